// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The trace of the moment method: each Gaussian piece z ~ N(m, C) of a hidden layer has its
// activations replaced by the Gaussian surrogate b_j = mean_j + gain_j x_j, x_j = (z_j - m_j) / s_j (H.1).
#pragma once

#include <vector>

#include "certificate/mask_tree.h"
#include "certificate/trace_parts.h"
#include "quantize/split_rule.h"

namespace mixcert {

/// Activations a_j = f(z_j) of one piece, their surrogate, and what separates the two. With c_p the
/// normalised Hermite coefficients of a_j (V.1):
///     a_j - b_j = linear_j x_j + quadratic_j H_2(x_j) + rest_j + (an error of at most `error_j` in L2),
/// rest_j of Hermite rank three or more. Behind a mask m the surrogate of m_j a_j is b_j + mask_gain_j eta_j,
/// eta standard normals of their own, and fields of squares are those of m_j a_j (D.3).
struct SurrogateLaw {
  Vector mean;                ///< of the surrogate
  Vector gain;                ///< of the surrogate; 0 where z_j is constant
  Vector linear;              ///< c_1 - gain
  Vector quadratic;           ///< c_2
  Vector rest;                ///< no less than the L2 norm of rest_j
  Vector error;               ///< what the computed mean, c_1 and c_2 may be off by, together
  Vector second;              ///< E a_j^2, as computed
  Vector second_error;        ///< what it may be off by
  Vector square_slope;        ///< E[a_j^2 x_j], as computed
  Vector square_slope_error;  ///< what it may be off by
  Vector square_rest;         ///< no less than the L2 norm of a_j^2 - E a_j^2 - E[a_j^2 x_j] x_j
  Vector reach;               ///< no less than |a_j - mean_j|; infinite where a_j is unbounded
  double lipschitz = 0.0;     ///< no less than the activations' constants
  // Of masked activations; empty without a mask.
  Vector mask_gain;      ///< of the surrogate; 0 where the mask is enumerated
  Vector mask_cost;      ///< no less than E ((m_j - 1) a_j - mask_gain_j eta_j)^2
  Vector mask_variance;  ///< no less than E ((m_j - 1) a_j)^2
  Vector mask_square;    ///< no less than Var(m_j^2) E a_j^4

  [[nodiscard]] bool is_masked() const { return mask_gain.size() > 0; }
};

/// A direction along which a component is split (P.1).
struct SplitDirection {
  Vector direction;
  const SplitRule* rule = nullptr;
};

/// Hidden layer k of the moment method.
struct MomentLayerTrace : CompressionTrace {
  /// One list per component of `after`; all lists empty when nothing is split.
  std::vector<std::vector<SplitDirection>> splits;
  GaussianMixture pieces;  ///< after splitting; `after` itself when nothing is split
  /// Masks that are enumerated: every leaf makes a component of its own (D.4).
  MaskTree masks;
  std::vector<SurrogateLaw> surrogates;  ///< one per piece and leaf: piece * masks.size() + leaf
};

struct MomentTrace {
  FirstLayerTrace first;
  std::vector<MomentLayerTrace> layers;
  GaussianMixture output;
  double settled = 0.0;  ///< W2 by which writing out its covariances moved it (R.8)
};

}  // namespace mixcert
