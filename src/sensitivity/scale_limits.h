// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Where doubles end, docs/theory/rounding.md (R.9): numbers that are too large for squares of variances are
// refused, and what underflow can hide is charged, layer by layer.
#pragma once

#include "mixcert/mixture/gaussian_mixture.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

/// Throws InvalidArgument, naming the layer, where outputs of a hidden layer have a typical size above 2^40,
/// the network's one above 2^100, or factors of a Kronecker law are more than 2^64 apart.
void require_ordinary_sizes(const Network& network, const std::vector<double>& log_sizes);

/// What underflow can hide in all layers' terms together, at the output, for one input (R.9).
double underflow_charge(const Sensitivity& sensitivity, Index outputs);

/// Throws Error unless means and deviations of the outputs of layer k are below 2^56 times their typical
/// size.
void require_moderate(const Gaussian& law, const Network& network, const Sensitivity& sensitivity, Index k);
void require_moderate(const GaussianMixture& law, const Network& network, const Sensitivity& sensitivity,
                      Index k);

}  // namespace mixcert
