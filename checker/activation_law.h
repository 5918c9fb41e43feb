// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A Gaussian behind an activation and a mask, neuron by neuron: docs/theory/ moment-method.md (H.1), (H.2),
// dropout.md (D.3).
#pragma once

#include <optional>

#include "activation.h"
#include "ball_matrix.h"
#include "mask.h"
#include "rounded_product.h"

namespace mixcert_check {

/// N(mean, covariance).
struct GaussianLaw {
  Balls mean;
  Balls variances;
  std::optional<BallMatrix> covariance;  ///< none where the coordinates are independent
};

/// The functions that take matrices of Arb's balls, of doubles, or both, may be called.
struct WhichBalls {
  bool exact, rounded;
};

struct ActivationLaw {
  ActivationLaw(const GaussianLaw& law, const Activation& f, const Mask& mask, WhichBalls which);

  /// (H.1): no less than E v'Bv, v_j = first_j x_j + q_j H_2 + rest. B is positive semidefinite.
  [[nodiscard]] Ball hermite_form(const BallMatrix& b, const Balls& first) const;
  [[nodiscard]] Ball hermite_form(const DoubleMatrix& b, const Balls& first) const;
  /// (H.2): no less than the variance of sum_j v_j m_j^2 a_j^2, for each row v >= 0.
  [[nodiscard]] Balls variances_of_squares(const BallMatrix& rows) const;
  [[nodiscard]] Balls variances_of_squares(const DoubleMatrix& rows) const;
  /// K~ of (H.7).
  [[nodiscard]] BallMatrix covariance() const;
  /// c_1, where `linear` is c_1 - k.
  [[nodiscard]] Balls slopes() const;
  [[nodiscard]] std::size_t size() const { return mean.size(); }
  [[nodiscard]] bool is_masked() const { return !mask_variance.empty(); }

  Balls mean, gain, linear, quadratic, rest;    // mu, k, p = c_1 - k, q = c_2, t of (H.1)
  Balls second, square_slope, square_rest;      // E a^2, e, w of (H.2), times 1 + nu
  Balls deviations;                             // of z
  Balls mask_variance, mask_cost, mask_square;  // tau^2, c and (E m^4 - (1 + nu)^2) E a^4; none without
  // r; none where it is the identity, or where nobody asked for it.
  std::optional<BallMatrix> correlation;
  std::optional<DoubleMatrix> rounded_correlation;

 private:
  /// A neuron's own part of (H.1).
  [[nodiscard]] Ball own_form(const Ball& entry, const Balls& first, std::size_t neuron) const;
  template <class Number, class Matrix>
  [[nodiscard]] Balls variances_by(const std::optional<Matrix>& r, const Matrix& rows) const;
  /// m a in the place of a, for the last neuron: (D.3).
  void apply(const Mask& mask);
};

}  // namespace mixcert_check
