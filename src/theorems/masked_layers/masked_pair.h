// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two hidden layers behind dropout masks and deterministic weights against a Gaussian, without a Lipschitz
// constant: docs/theory/dropout-two-layers.md (D.17). What is linear in the first layer's masks and the rest
// are orthogonal in the coupling, and so are the second layer's masks.
#pragma once

#include <vector>

#include "mixcert/core/types.h"
#include "sensitivity/error_norm.h"
#include "theorems/masked_layers/masked_layer.h"

namespace mixcert {

/// Masks of both layers.
struct MaskedPair {
  double first_coupling = 0.0;   ///< no more than E X g of a standardised mask and its normal (D.2)
  double second_variance = 0.0;  ///< no less than that of the second layer's masks
  double second_coupling = 0.0;  ///< no more than kap* of (D.2) of the second layer
  std::vector<bool> is_masked;   ///< which neurons of the second layer are behind a random mask
};

/// w_l.w_k of the columns w_l that the second layer's neurons are multiplied by, in any metric and in the
/// units of the neurons and of 2^exponent.
struct ColumnGram {
  Matrix gram;
  Vector roots;          ///< no less than |w_l|
  Index operations = 0;  ///< entries are off by at most gamma of this many times products of roots
  int exponent = 0;
};
ColumnGram column_gram(const Matrix& columns, const std::vector<int>& exponents);
ColumnGram column_gram(const NormTerm& norm, const std::vector<int>& exponents);

/// No less than the norm in L2 of sum_l w_l (eta_l h_l) less its stand-in, in the coupling of (D.17), which
/// does not depend on the columns.
double masked_distance(const ColumnGram& columns, const MaskedLayer& layer, const MaskedStandIn& stand_in,
                       const MaskedPair& masks);

/// No less than the mean square of sum_l w_l (h_l - mean_l - slopes_l . X), R^2 of (D.17).
double rest_square(const ColumnGram& columns, const MaskedLayer& layer);

}  // namespace mixcert
