// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through the error norms of (M.8): from what a local error says about metrics and Gram matrices
// back to the weights' means and variances (Z.4), (Z.5).
#pragma once

#include <vector>

#include "mixcert/gradient/objective.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

/// Derivatives in what a NormTerm hands to the local error.
struct NormGradient {
  Vector metric;      ///< in the diagonal of Q
  Matrix gram;        ///< in M'QM, symmetric; empty where the local error did not use it
  Vector gram_roots;  ///< in `gram_roots`; empty where the local error did not use them
};

/// Hidden layer k used error norms[k-1][error norm]; derivatives of its norms. No norms: nothing to add.
struct ErrorNormGradient {
  std::size_t error_norm = 0;
  std::vector<NormGradient> norms;
};

/// Adds to `gradient` what `error_norms` (entry k-1 for hidden layer k) say; the error norms are those of
/// SensitivityMode::Closed, in its order. The semidefinite program has no derivatives: another index is
/// refused. The network must have passed require_differentiable.
void add_error_norm_gradient(const Network& network, const std::vector<ErrorNormGradient>& error_norms,
                             NetworkGradient& gradient);

/// Adds derivatives in variances; nothing where the layer has none: it keeps zeros.
void add_weight_variance(const DenseLayer& layer, ConstMatrixRef variance_bar, LayerGradient& gradient);
void add_bias_variance(const DenseLayer& layer, ConstVectorRef variance_bar, LayerGradient& gradient);

}  // namespace mixcert
