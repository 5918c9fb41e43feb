// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Exact Gaussian process regression: targets are values of the process plus independent Gaussian noise. One
// Cholesky factorisation of K + noise I gives predictions (K.4), the log marginal likelihood (K.3) and its
// gradient (K.5).
#pragma once

#include "mixcert/gp/gaussian_process.h"

namespace mixcert {

/// Law of the process at new inputs, one by one.
struct GpPrediction {
  Vector mean;
  Vector variance;  ///< of the process; an observation adds the noise
};

/// How well predictions of observations fit targets, averages over targets.
struct GpScores {
  double root_mean_square_error = 0.0;
  double negative_log_likelihood = 0.0;  ///< of N(mean, variance + noise)
};

class GpRegression {
 public:
  /// One target for each column of `inputs`. Where K + noise I is not positive definite in floating point,
  /// the smallest of 1e-10, 1e-9, ..., 1e-4 times the mean variance that helps is added to its diagonal.
  GpRegression(GaussianProcess prior, double noise_variance, ConstMatrixRef inputs, ConstVectorRef targets);

  [[nodiscard]] const GaussianProcess& prior() const { return prior_; }
  [[nodiscard]] double noise_variance() const { return noise_variance_; }
  /// What was added to the diagonal beyond the noise; 0 where nothing was.
  [[nodiscard]] double jitter() const { return jitter_; }

  [[nodiscard]] GpPrediction predict(ConstMatrixRef inputs) const;
  [[nodiscard]] GpScores scores(ConstMatrixRef inputs, ConstVectorRef targets) const;

  [[nodiscard]] double log_marginal_likelihood() const;
  /// In the kernel's parameters, the logarithm of the noise variance and the mean's parameters.
  [[nodiscard]] Vector log_marginal_likelihood_gradient() const;

 private:
  void factorise();

  GaussianProcess prior_;
  double noise_variance_;
  double jitter_ = 0.0;
  Matrix inputs_;
  Vector residual_;
  Matrix factor_;   ///< lower triangular, factor factor' = K + (noise + jitter) I
  Vector weights_;  ///< (K + noise I)^-1 residual
};

}  // namespace mixcert
