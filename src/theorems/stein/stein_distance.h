// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The local error of the last layer for any number of outputs, by a second-order Stein bound (Y.9): a sum of
// independent neurons is as far from Gaussian as its third cumulants are from zero, to first order.
#pragma once

#include "methods/moment/moment_trace.h"
#include "mixcert/activation/activation.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// Neurons times outputs to the fourth: what the third-order sums cost.
double stein_work(const DenseLayer& layer);
inline constexpr double kMostSteinWork = 4e7;

/// W2 between the true push of `piece` through activation and layer and the Gaussian `pushed`; infinite where
/// (Y.9) does not apply: dependent neurons, correlated outputs, masks, a singular covariance, very many
/// outputs. Weights that are not Gaussian count as the Gaussians that stand for them.
UpperBound stein_distance(const ActivationMap& activation, const DenseLayer& layer, const Gaussian& piece,
                          const SurrogateLaw& law, const Gaussian& pushed);

}  // namespace mixcert
