// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Values of a Gaussian process at given inputs: their law, samples of it, and regression through the Cholesky
// factor (K.3 - K.5).
#include "mixcert/gp/gaussian_process.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/core/rng.h"
#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {

Gaussian GaussianProcess::law(ConstMatrixRef inputs) const {
  return {mean_at(inputs), Covariance::dense(covariance(inputs))};
}

Matrix sample_functions(const GaussianProcess& process, ConstMatrixRef inputs, Index count,
                        std::uint64_t seed) {
  require(count >= 0,
          "sample_functions: expected a number of functions from 0 on, got " + std::to_string(count));
  const SymmetricEigen eigen = symmetric_eigen(process.covariance(inputs));
  Matrix normals(inputs.cols(), count);
  Generator generator = make_generator(seed, Stream::Process);
  fill_normal(generator, normals);
  // Eigenvalues that rounding made negative are zero.
  const Vector deviations = positive_part(eigen.values).cwiseSqrt();
  Matrix functions = eigen.vectors * (deviations.asDiagonal() * normals);
  functions.colwise() += process.mean_at(inputs);
  return functions;
}

namespace {

constexpr double kFirstJitter = 1e-10;
constexpr double kLastJitter = 1e-4;

}  // namespace

GpRegression::GpRegression(GaussianProcess prior, double noise_variance, ConstMatrixRef inputs,
                           ConstVectorRef targets)
    : prior_(std::move(prior)), noise_variance_(noise_variance), inputs_(inputs) {
  require(noise_variance > 0.0 && std::isfinite(noise_variance),
          "regression: expected a noise variance above 0, got " + format_number(noise_variance));
  require(inputs.cols() > 0 && targets.size() == inputs.cols(),
          "regression: expected one target for each of at least one inputs, got " +
              std::to_string(targets.size()) + " targets and " + std::to_string(inputs.cols()) + " inputs");
  require(targets.allFinite(), "regression: expected finite targets, got infinity or NaN");
  residual_ = targets - prior_.mean_at(inputs);
  factorise();
  weights_ = factor_.triangularView<Eigen::Lower>().solve(residual_);
  factor_.transpose().triangularView<Eigen::Upper>().solveInPlace(weights_);
}

void GpRegression::factorise() {
  Matrix covariance = prior_.covariance(inputs_);
  covariance.diagonal().array() += noise_variance_;
  const double mean_variance = covariance.diagonal().mean();
  for (double relative = 0.0; relative <= 2.0 * kLastJitter;
       relative = relative == 0.0 ? kFirstJitter : 10.0 * relative) {
    jitter_ = relative * mean_variance;
    factor_ = covariance;
    factor_.diagonal().array() += jitter_;
    Eigen::LLT<Eigen::Ref<Matrix>> decomposition(factor_);
    if (decomposition.info() == Eigen::Success && factor_.diagonal().allFinite()) {
      factor_.triangularView<Eigen::StrictlyUpper>().setZero();
      return;
    }
  }
  throw InvalidArgument("regression: expected a positive definite covariance, got none with " +
                        format_number(kLastJitter) + " of the mean variance added to its diagonal: kernel " +
                        prior_.kernel.text());
}

GpPrediction GpRegression::predict(ConstMatrixRef inputs) const {
  const Matrix cross = prior_.kernel.cross(inputs_, inputs);
  const Matrix whitened = factor_.triangularView<Eigen::Lower>().solve(cross);
  const Vector explained = whitened.colwise().squaredNorm().transpose();
  return {prior_.mean_at(inputs) + cross.transpose() * weights_,
          positive_part(prior_.kernel.variances(inputs) - explained)};
}

GpScores GpRegression::scores(ConstMatrixRef inputs, ConstVectorRef targets) const {
  require(inputs.cols() > 0 && targets.size() == inputs.cols(),
          "regression: expected one target for each of at least one inputs, got " +
              std::to_string(targets.size()) + " and " + std::to_string(inputs.cols()));
  const GpPrediction prediction = predict(inputs);
  const Vector squares = (targets - prediction.mean).cwiseAbs2();
  const Vector variances = prediction.variance.array() + noise_variance_;
  const Vector losses =
      0.5 * ((2.0 * std::numbers::pi * variances).array().log() + squares.array() / variances.array());
  return {std::sqrt(squares.mean()), losses.mean()};
}

double GpRegression::log_marginal_likelihood() const {
  const auto count = static_cast<double>(residual_.size());
  return -0.5 * residual_.dot(weights_) - factor_.diagonal().array().log().sum() -
         0.5 * count * std::log(2.0 * std::numbers::pi);
}

Vector GpRegression::log_marginal_likelihood_gradient() const {
  // (K + noise I)^-1 = L^-T L^-1; half of alpha alpha' less it is the derivative in the covariance (K.5).
  Matrix inverse = Matrix::Identity(factor_.rows(), factor_.cols());
  factor_.triangularView<Eigen::Lower>().solveInPlace(inverse);
  Matrix slopes = weights_ * weights_.transpose();
  slopes -= inverse.transpose().triangularView<Eigen::Upper>() * inverse;
  slopes *= 0.5;
  const Vector by_kernel = prior_.kernel.weighted_gradient(inputs_, slopes);
  const Vector by_mean = prior_.mean.weighted_gradient(inputs_, weights_);
  Vector gradient(by_kernel.size() + 1 + by_mean.size());
  gradient << by_kernel, noise_variance_ * slopes.trace(), by_mean;
  return gradient;
}

}  // namespace mixcert
