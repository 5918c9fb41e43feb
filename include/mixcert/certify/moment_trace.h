// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The trace of the moment method: each Gaussian piece z ~ N(m, C) of a hidden layer has its
// activations replaced by the Gaussian surrogate b_j = mean_j + gain_j x_j, x_j = (z_j - m_j) / s_j (H.1).
#pragma once

#include <vector>

#include "mixcert/certify/trace.h"
#include "mixcert/quantize/split_rule.h"

namespace mixcert {

/// Activations a_j = f(z_j) of one piece, their surrogate, and what separates the two. With c_p the
/// normalised Hermite coefficients of a_j (V.1):
///     a_j - b_j = linear_j x_j + quadratic_j H_2(x_j) + rest_j + (an error of at most `error_j` in L2),
/// rest_j of Hermite rank three or more.
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
  GaussianMixture pieces;                ///< after splitting; `after` itself when nothing is split
  std::vector<SurrogateLaw> surrogates;  ///< one per piece
};

struct MomentTrace {
  double input_norm = 0.0;  ///< no less than |x| and |s_0(x)|
  Vector first_raise;       ///< added to the variances of q_1 against rounding (J.6); empty when nothing was
  std::vector<MomentLayerTrace> layers;
  GaussianMixture output;
};

}  // namespace mixcert
