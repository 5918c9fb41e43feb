// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of a layer's squared local error q = sum_j pi_j sum_i g_i e_ij, e_ij by (S.1) or, for diagonal
// covariances, (S.4): (Z.23).
#pragma once

#include <vector>

#include "gradient/signature/signature_directions.h"
#include "methods/signature/signature_trace.h"
#include "mixcert/activation/activation.h"

namespace mixcert {

/// Adds q_bar dq to `components` (one per component of layer.after) and returns the derivatives in g.
/// `refine` as in local_errors.
Vector add_local_gradient(const SignatureLayerTrace& layer, const ActivationMap& activation,
                          Index input_count, bool refine, ConstVectorRef g, double q_bar,
                          std::vector<ComponentGradient>& components);

}  // namespace mixcert
