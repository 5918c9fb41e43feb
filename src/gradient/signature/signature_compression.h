// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through compression: of what it costs (T.1), and of the components it makes, (Z.24), (Z.25).
// Clusters and plan are held fixed.
#pragma once

#include <vector>

#include "gradient/gaussian_gradient.h"
#include "methods/signature/signature_trace.h"

namespace mixcert {

/// Adds cost_bar times the derivatives of sum_ij plan_ij cost_ij in the metric g; returns those in g.
Vector add_compression_cost_gradient(const CompressionTrace& trace, ConstVectorRef g, double cost_bar,
                                     std::vector<GaussianGradient>& before,
                                     std::vector<GaussianGradient>& after);

/// Adds to `before` what derivatives in the components of trace.after say: moment matching.
void pull_back_compression(const CompressionTrace& trace, const std::vector<GaussianGradient>& after,
                           std::vector<GaussianGradient>& before);

}  // namespace mixcert
