// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Gaussian processes: laws at points, regression (K.3 - K.5) and fits by maximum likelihood.
#pragma once

#include <cstdint>

#include "mixcert/core/parallel.h"
#include "mixcert/gp/kernel.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

// A Gaussian process: at any inputs its values are Gaussian, with mean and covariance from two functions.

struct GaussianProcess {
  MeanFunction mean;
  Kernel kernel;

  [[nodiscard]] Vector mean_at(ConstMatrixRef inputs) const { return mean.at(inputs); }
  [[nodiscard]] Matrix covariance(ConstMatrixRef inputs) const { return kernel.covariance(inputs); }
  /// Law of the values at the columns of `inputs`, its covariance dense.
  [[nodiscard]] Gaussian law(ConstMatrixRef inputs) const;
};

/// `count` functions drawn from the process, one per column, at the columns of `inputs`. The square root is
/// by eigenvectors, because covariances of close inputs are singular in floating point.
Matrix sample_functions(const GaussianProcess& process, ConstMatrixRef inputs, Index count,
                        std::uint64_t seed);

// Exact Gaussian process regression: targets are values of the process plus independent Gaussian noise. One
// Cholesky factorisation of K + noise I gives predictions (K.4), the log marginal likelihood (K.3) and its
// gradient (K.5).

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

// Parameters of kernel, noise and mean by the largest log marginal likelihood (K.3), found by L-BFGS with
// bounds (NLopt) from several starts.

struct GpFitOptions {
  /// The first start is what is given; the others have its logarithmic parameters plus standard normals.
  Index starts = 3;
  /// Random examples to fit on, without replacement; all of them where there are no more. 0: all.
  Index subset_size = 1000;
  /// Evaluations of the likelihood from each start.
  Index most_evaluations = 150;
  /// Positive parameters stay within this factor of those given.
  double range = 1e4;
  /// Of the subset and the further starts.
  std::uint64_t seed = 0;
  const CancelFlag* cancel = nullptr;

  /// Throws InvalidArgument naming field, value and violated constraint.
  void validate() const;
};

struct GpFit {
  GaussianProcess process;
  double noise_variance = 0.0;
  double log_marginal_likelihood = 0.0;  ///< on the subset
  Index subset_size = 0;
  Index evaluations = 0;  ///< over all starts
  Index best_start = 0;
  bool converged = false;  ///< false: the best start ended at its last evaluation
};

/// Does not return a worse likelihood than that of what is given.
GpFit fit_gp(const GaussianProcess& process, double noise_variance, ConstMatrixRef inputs,
             ConstVectorRef targets, const GpFitOptions& options);

/// `count` different numbers below `total`, increasing; all of them where there are no more.
std::vector<Index> random_subset(Index total, Index count, std::uint64_t seed);

}  // namespace mixcert
