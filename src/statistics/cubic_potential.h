// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The cubic potential of (C.6) in coordinates in which q is standard normal:
//     psi(z) = (1/6) sum_abc t_abc (z_a z_b z_c - 3 delta_ab z_c),   t symmetric,
// as a function of y = c^{1/2} z, whose transport cost it is part of.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

class CubicPotential {
 public:
  /// Variances c; third cumulants of z as an r x r^2 matrix, entry (a, b + r c). Scaled down where that makes
  /// |y|^2/2 + psi convex on the ball |z| <= radius.
  CubicPotential(const Vector& variances, Matrix cumulants, double radius);

  /// How far it was scaled down; one where it was not.
  [[nodiscard]] double scale() const { return scale_; }
  /// Of columns of `z`.
  [[nodiscard]] Vector values(const Matrix& z) const;
  /// With respect to y.
  [[nodiscard]] Matrix gradients(const Matrix& z) const;
  /// Lower bounds of inf over y in the ball of |x - y|^2 + 2 psi(y) at the columns x = c^{1/2} z.
  [[nodiscard]] Vector infima(const Matrix& z) const;
  /// No less than |psi| on the ball.
  [[nodiscard]] double largest() const;
  /// E psi under a law of z with these third cumulants, mean and covariance.
  [[nodiscard]] double expectation(const Matrix& cumulants, const Vector& mean,
                                   const Matrix& covariance) const;

 private:
  [[nodiscard]] Matrix forms(const Matrix& z) const;  // sum_bc t_abc z_b z_c
  /// The same of one point whose infimum lies on the sphere.
  [[nodiscard]] double infimum_at_rim(const Vector& z) const;

  Vector deviations_;
  Matrix tensor_;  // t, r x r^2
  Vector traces_;  // sum_b t_abb
  double radius_;
  double scale_ = 1.0;
  double convexity_ = 1.0;  // |y|^2/2 + psi less this times |y|^2/2 is convex on the ball
};

}  // namespace mixcert
