// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bayesian linear regression, where the answer is known: with X' = [X, 1], noise variance v and prior
// N(m0, diag(1/p)) the posterior precision is A = X'X/v + diag(p), its mean A^-1 (X'y/v + p m0), and the
// best Gaussian with independent entries has that mean and the variances 1 / A_ii.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "io/test_files.h"
#include "lab/train/synthetic_data.h"
#include "mixcert/io/model_file.h"
#include "train/hmc_posterior.h"
#include "train/train.h"

namespace mixcert::lab {
namespace linear_regression_test {

constexpr Index kFeatures = 6;
constexpr double kNoiseStd = 0.3;

struct Exact {
  Vector mean, variance;
};

Exact exact_posterior(const Dataset& data, const Vector& prior_mean, const Vector& prior_precision) {
  Matrix x(data.train.size(), kFeatures + 1);
  x << data.train.inputs.cast<double>(), Vector::Ones(data.train.size());
  const double scale = 1.0 / (kNoiseStd * kNoiseStd);
  Matrix precision = scale * x.transpose() * x;
  precision.diagonal() += prior_precision;
  const Vector right =
      scale * x.transpose() * data.train.targets.cast<double>() + prior_precision.cwiseProduct(prior_mean);
  return {precision.llt().solve(right), precision.diagonal().cwiseInverse()};
}

TrainOptions linear_options() {
  TrainOptions options;
  options.arch = "6-1";
  options.noise_std = kNoiseStd;
  options.epochs = 400;
  options.batch_size = 50;
  options.learning_rate = 0.1;
  options.curvature_decay = 0.99;
  options.threads = 1;
  return options;
}

/// Errors relative to the largest entry of the exact answer for means, entry by entry for variances.
void expect_exact(const Network& network, const Exact& exact, double variance_tolerance) {
  const DenseLayer& layer = network.layer(0);
  Vector mean(kFeatures + 1);
  Vector variance(kFeatures + 1);
  mean << layer.weight_mean().transpose(), layer.bias_mean();
  variance << std::get<MeanFieldWeights>(layer.weights()).variance.transpose(),
      std::get<IndependentBias>(layer.bias()).variance;
  EXPECT_LT((mean - exact.mean).cwiseAbs().maxCoeff(), 0.01 * exact.mean.cwiseAbs().maxCoeff());
  EXPECT_LT((variance.cwiseQuotient(exact.variance).array() - 1.0).abs().maxCoeff(), variance_tolerance);
}

class LinearRegression : public ::testing::Test {
 protected:
  const Dataset data_ = linear_data(kFeatures, 500, kNoiseStd);
  const test::TempDirectory directory_;

  [[nodiscard]] Network trained(const TrainOptions& options) const {
    train(data_, options, directory_ / "net.safetensors");
    return load_network(directory_ / "net.safetensors");
  }
};

TEST_F(LinearRegression, VognFindsThePosterior) {
  TrainOptions options = linear_options();
  options.prior_precision = 20.0;
  const Exact exact = exact_posterior(data_, Vector::Zero(7), Vector::Constant(7, 20.0));
  expect_exact(trained(options), exact, 0.02);
}

TEST_F(LinearRegression, VognFindsThePosteriorUnderAnyDiagonalPrior) {
  const Vector mean = Vector::LinSpaced(7, -2.0, 2.0);
  const Vector precision = Vector::LinSpaced(7, 5.0, 3000.0);
  const Vector variance = precision.cwiseInverse();
  const DenseLayer layer("prior", mean.head(6).transpose(), mean.tail(1),
                         MeanFieldWeights{variance.head(6).transpose()}, IndependentBias{variance.tail(1)});
  save_network(directory_ / "prior.safetensors", Network({layer}, {Activation()}));
  TrainOptions options = linear_options();
  options.prior = (directory_ / "prior.safetensors").string();
  expect_exact(trained(options), exact_posterior(data_, mean, precision), 0.02);
}

TEST_F(LinearRegression, IvonFindsThePosteriorUpToItsNoise) {
  TrainOptions options = linear_options();
  options.inference = Inference::Ivon;
  options.curvature_decay = 0.9998;
  options.initial_std = 0.015;
  options.epochs = 2000;
  options.weight_samples = 2;
  const Exact exact = exact_posterior(data_, Vector::Zero(7), Vector::Constant(7, 1.0));
  expect_exact(trained(options), exact, 0.25);
}

TEST_F(LinearRegression, LearnsTheNoise) {
  TrainOptions options = linear_options();
  options.noise_std.reset();
  const TrainSummary summary = train(data_, options, directory_ / "net.safetensors");
  EXPECT_NEAR(*summary.noise_std, kNoiseStd, 0.05 * kNoiseStd);
}

TEST_F(LinearRegression, ElboIsBelowTheEvidenceAndNearTheBestOfItsFamily) {
  TrainOptions options = linear_options();
  const TrainSummary summary = train(data_, options, directory_ / "net.safetensors");
  // log evidence of a linear Gaussian model, from the covariance of the targets.
  Matrix x(data_.train.size(), kFeatures + 1);
  x << data_.train.inputs.cast<double>(), Vector::Ones(data_.train.size());
  const Index n = x.rows();
  const Matrix covariance = x * x.transpose() + kNoiseStd * kNoiseStd * Matrix::Identity(n, n);
  const Eigen::LLT<Matrix> factor(covariance);
  const Vector y = data_.train.targets.cast<double>();
  const double log_determinant = 2.0 * factor.matrixLLT().diagonal().array().log().sum();
  const double evidence =
      -0.5 * (y.dot(factor.solve(y)) + log_determinant + static_cast<double>(n) * std::log(2.0 * M_PI));
  EXPECT_LT(summary.objective, evidence + 0.5);
  EXPECT_GT(summary.objective, evidence - 3.0);
}

TEST_F(LinearRegression, TrajectoriesSampleThePosterior) {
  const StackNet net{std::nullopt, DenseNet({kFeatures, 1}, Activation(), {0.0})};
  DiagonalPrior prior{FloatVector::LinSpaced(7, -2.0F, 2.0F), FloatVector::LinSpaced(7, 5.0F, 3000.0F)};
  HmcOptions options;
  options.leapfrog_steps = 20;
  options.samples = 4000;
  const Likelihood likelihood(Task::Regression, kNoiseStd * kNoiseStd);
  const HmcSamples samples = sample_posterior(net, prior, likelihood, data_.train, options, 1, nullptr);
  EXPECT_GT(samples.acceptance, 0.5);
  Matrix drawn(7, options.samples);
  for (Index i = 0; i < options.samples; ++i)
    drawn.col(i) = samples.networks[static_cast<std::size_t>(i)].cast<double>();
  const Vector mean = drawn.rowwise().mean();
  const Matrix centered = drawn.colwise() - mean;
  const Matrix covariance = centered * centered.transpose() / static_cast<double>(options.samples);
  // The whole posterior, not the mean-field one: its covariance is the inverse of the precision.
  Matrix x(data_.train.size(), kFeatures + 1);
  x << data_.train.inputs.cast<double>(), Vector::Ones(data_.train.size());
  Matrix precision = x.transpose() * x / (kNoiseStd * kNoiseStd);
  precision.diagonal() += prior.precision.cast<double>();
  const Matrix expected = precision.llt().solve(Matrix::Identity(7, 7));
  const Exact exact = exact_posterior(data_, prior.mean.cast<double>(), prior.precision.cast<double>());
  EXPECT_LT(((mean - exact.mean).array() / expected.diagonal().array().sqrt()).abs().maxCoeff(), 0.15);
  EXPECT_LT((covariance - expected).norm(), 0.1 * expected.norm());
}

TEST_F(LinearRegression, AdamFindsTheMean) {
  TrainOptions options = linear_options();
  options.inference = Inference::Adam;
  options.learning_rate = 0.01;
  const Network network = trained(options);
  const Exact exact = exact_posterior(data_, Vector::Zero(7), Vector::Constant(7, 1.0));
  EXPECT_LT((network.layer(0).weight_mean().transpose() - exact.mean.head(6)).cwiseAbs().maxCoeff(),
            0.01 * exact.mean.cwiseAbs().maxCoeff());
  EXPECT_TRUE(network.layer(0).is_deterministic());
}

}  // namespace linear_regression_test
}  // namespace mixcert::lab
