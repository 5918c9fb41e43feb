// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Statistical bounds, never certificates: of a mean from above (C.4), and of W2 from below (C.6).
#pragma once

#include <optional>

#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"

namespace mixcert {

// An upper confidence bound for a mean, from independent samples (C.4). Asymptotic.

struct MeanBound {
  double mean = 0.0;
  double standard_error = 0.0;  ///< of the mean, from means of batches
  double upper = 0.0;           ///< the expectation is at most this with about 1 - failure_probability
  Index batches = 0;
};

/// No less than the quantile of Student's t with `freedom` >= 1 degrees that is exceeded with probability
/// `tail`, 0 < tail < 1; never negative (Wallace 1959).
double student_quantile_bound(double tail, Index freedom);

/// Batch means, Student's t and Hall's correction for skewness (C.4). Two values or more.
MeanBound mean_upper_bound(ConstVectorRef values, double failure_probability);

// A lower bound of W2(p, q) where the moments of p and q agree and Gelbrich's bound is zero: Kantorovich's
// dual with a cubic potential made of the network's third cumulants (C.6). A statistic, never a certificate.

struct DualLowerBound {
  double lower = 0.0;       ///< W2 is at least this with about the confidence
  double linearised = 0.0;  ///< what a small distance would be, without margin and sampling
  double confidence = 0.0;
};

/// `samples` of the network at `input`, outputs x n, n >= 2. Nothing where (C.6) does not apply: it wants one
/// hidden layer with independent Gaussian weights and no masks, and a single Gaussian for q.
std::optional<DualLowerBound> dual_lower_bound(const Network& network, ConstVectorRef input,
                                               const GaussianMixture& mixture, ConstMatrixRef samples,
                                               double confidence = 0.999);

// The cubic potential of (C.6) in coordinates in which q is standard normal:
//     psi(z) = (1/6) sum_abc t_abc (z_a z_b z_c - 3 delta_ab z_c),   t symmetric,
// as a function of y = c^{1/2} z, whose transport cost it is part of.

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
