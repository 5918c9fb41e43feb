// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Regression against the conditional law of one joint Gaussian, the likelihood against its density, gradients
// against difference quotients, and what fitting finds on data from a known process.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/gp/gaussian_process.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {
namespace regression_test {

Matrix random_matrix(Index rows, Index columns, std::uint64_t seed) {
  Matrix values(rows, columns);
  Generator generator = make_generator(seed, Stream::Example);
  fill_normal(generator, values);
  return values;
}

struct Case {
  GaussianProcess process;
  double noise = 0.2;
  Matrix inputs = random_matrix(2, 12, 1);
  Vector targets = random_matrix(12, 1, 2);
};

Case general_case() {
  return {{MeanFunction::parse("linear(weights=[0.5,-1], offset=0.3)"),
           Kernel::parse("rbf(lengthscale=[0.7,1.5], variance=1.3) + linear(center=0.1) * matern32")}};
}

/// Process at training inputs, then at new ones, then observations of the training inputs: one Gaussian.
TEST(GpRegression, IsTheConditionalLaw) {
  const Case c = general_case();
  const Matrix fresh = random_matrix(2, 5, 3);
  Matrix all(2, 17);
  all << c.inputs, fresh;
  Matrix covariance = c.process.covariance(all);
  covariance.topLeftCorner(12, 12).diagonal().array() += c.noise;
  const GaussianMixture joint(Gaussian{c.process.mean_at(all), Covariance::dense(covariance)});
  const GaussianMixture expected = joint.conditional({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, c.targets);

  const GpRegression regression(c.process, c.noise, c.inputs, c.targets);
  EXPECT_EQ(regression.jitter(), 0.0);
  const GpPrediction prediction = regression.predict(fresh);
  EXPECT_TRUE(prediction.mean.isApprox(expected.mean(), 1e-9));
  EXPECT_TRUE(prediction.variance.isApprox(expected.covariance().diagonal(), 1e-9));

  const Vector targets = random_matrix(5, 1, 4);
  double squares = 0.0;
  double loss = 0.0;
  for (Index i = 0; i < 5; ++i) {
    const double variance = expected.covariance()(i, i) + c.noise;
    const double square = std::pow(targets(i) - expected.mean()(i), 2);
    squares += square / 5.0;
    loss -= std::log(std::exp(-0.5 * square / variance) / std::sqrt(2.0 * std::numbers::pi * variance)) / 5.0;
  }
  const GpScores scores = regression.scores(fresh, targets);
  EXPECT_NEAR(scores.root_mean_square_error, std::sqrt(squares), 1e-9);
  EXPECT_NEAR(scores.negative_log_likelihood, loss, 1e-9);
}

TEST(GpRegression, LikelihoodIsTheDensityOfTheTargets) {
  const Case c = general_case();
  Matrix covariance = c.process.covariance(c.inputs);
  covariance.diagonal().array() += c.noise;
  const GaussianMixture law(Gaussian{c.process.mean_at(c.inputs), Covariance::dense(covariance)});
  const GpRegression regression(c.process, c.noise, c.inputs, c.targets);
  EXPECT_NEAR(regression.log_marginal_likelihood(), law.log_density(c.targets), 1e-10);
}

TEST(GpRegression, GradientIsTheDifferenceQuotient) {
  const Case c = general_case();
  const Vector kernel = c.process.kernel.parameters();
  const Vector mean = c.process.mean.parameters();
  Vector start(kernel.size() + 1 + mean.size());
  start << kernel, std::log(c.noise), mean;
  const auto value = [&](const Vector& at) {
    const GaussianProcess moved{c.process.mean.with_parameters(at.tail(mean.size())),
                                c.process.kernel.with_parameters(at.head(kernel.size()))};
    return GpRegression(moved, std::exp(at(kernel.size())), c.inputs, c.targets).log_marginal_likelihood();
  };
  const Vector gradient =
      GpRegression(c.process, c.noise, c.inputs, c.targets).log_marginal_likelihood_gradient();
  ASSERT_EQ(gradient.size(), start.size());
  constexpr double kStep = 1e-3;
  for (Index i = 0; i < start.size(); ++i) {
    const Vector step = kStep * Vector::Unit(start.size(), i);
    const double quotient = (8.0 * (value(start + step) - value(start - step)) - value(start + 2.0 * step) +
                             value(start - 2.0 * step)) /
                            (12.0 * kStep);
    EXPECT_NEAR(gradient(i), quotient, 1e-7 * gradient.norm()) << "parameter " << i;
  }
}

TEST(GpRegression, SaysWhatItAddedToTheDiagonal) {
  const Matrix inputs = Matrix::Zero(1, 40);
  const GaussianProcess process{{}, Kernel::parse("rbf(variance=1)")};
  const GpRegression regression(process, 1e-30, inputs, Vector::Ones(40));
  EXPECT_GT(regression.jitter(), 0.0);
  EXPECT_LE(regression.jitter(), 1e-4);
  EXPECT_NEAR(regression.predict(inputs.leftCols(1)).mean(0), 1.0, 1e-6);
}

TEST(GpRegression, RefusesWhatDoesNotFit) {
  const GaussianProcess process;
  const Matrix inputs = random_matrix(2, 3, 1);
  EXPECT_THROW(GpRegression(process, 0.0, inputs, Vector::Ones(3)), InvalidArgument);
  EXPECT_THROW(GpRegression(process, 1.0, inputs, Vector::Ones(2)), InvalidArgument);
  EXPECT_THROW(GpRegression(process, 1.0, inputs, Vector::Constant(3, NAN)), InvalidArgument);
  EXPECT_THROW(GpRegression(process, 1.0, Matrix(2, 0), Vector()), InvalidArgument);
  const GpRegression regression(process, 1.0, inputs, Vector::Ones(3));
  EXPECT_THROW((void)regression.predict(random_matrix(3, 2, 1)), InvalidArgument);
}

/// Smooth in the first coordinate, flat in the second: fitting must tell them apart.
TEST(FitGp, RecoversParametersOfSampledData) {
  const GaussianProcess truth{MeanFunction::constant(2.0), Kernel::rbf(Eigen::Vector2d(0.6, 50.0), 1.5)};
  const Matrix inputs = 1.5 * random_matrix(2, 250, 7);
  const double noise = 0.01;
  const Vector targets =
      sample_functions(truth, inputs, 1, 5).col(0) + std::sqrt(noise) * random_matrix(250, 1, 8).col(0);
  GpFitOptions options;
  options.subset_size = 200;
  const GaussianProcess start{MeanFunction::constant(0.0), Kernel::rbf(Eigen::Vector2d::Ones(), 1.0)};
  const GpFit fit = fit_gp(start, 0.1, inputs, targets, options);
  EXPECT_EQ(fit.subset_size, 200);
  EXPECT_TRUE(fit.converged);
  const Vector found = fit.process.kernel.parameters().array().exp();
  EXPECT_NEAR(found(0), 0.6, 0.12);
  EXPECT_GT(found(1), 5.0);
  EXPECT_NEAR(fit.noise_variance, noise, 0.5 * noise);

  const std::vector<Index> chosen = random_subset(250, 200, options.seed);
  const GpRegression best(fit.process, fit.noise_variance, inputs(Eigen::all, chosen), targets(chosen));
  EXPECT_NEAR(best.log_marginal_likelihood(), fit.log_marginal_likelihood, 1e-9);
  EXPECT_LT(best.log_marginal_likelihood_gradient().head(1).norm(), 1.0);
  const GpFit again = fit_gp(start, 0.1, inputs, targets, options);
  EXPECT_EQ(again.process.kernel.text(), fit.process.kernel.text());
}

TEST(FitGp, StaysWithinItsBoundsAndStops) {
  const Matrix inputs = random_matrix(1, 30, 1);
  GpFitOptions options;
  options.range = 2.0;
  options.starts = 1;
  const GpFit fit = fit_gp({}, 0.1, inputs, Vector::Zero(30), options);
  EXPECT_GE(fit.noise_variance, 0.05 * (1.0 - 1e-12));
  EXPECT_LE(fit.process.kernel.parameters().cwiseAbs().maxCoeff(), std::log(2.0) * (1.0 + 1e-12));
  const CancelFlag cancel(true);
  options.cancel = &cancel;
  EXPECT_THROW(fit_gp({}, 0.1, inputs, Vector::Zero(30), options), Interrupted);
  options.range = 0.5;
  EXPECT_THROW(fit_gp({}, 0.1, inputs, Vector::Zero(30), options), InvalidArgument);
}

TEST(RandomSubset, HasDifferentNumbersAndDependsOnTheSeed) {
  const std::vector<Index> chosen = random_subset(1000, 400, 1);
  ASSERT_EQ(chosen.size(), 400U);
  for (std::size_t i = 1; i < chosen.size(); ++i) EXPECT_LT(chosen[i - 1], chosen[i]);
  EXPECT_GE(chosen.front(), 0);
  EXPECT_LT(chosen.back(), 1000);
  EXPECT_NE(chosen, random_subset(1000, 400, 2));
  EXPECT_EQ(random_subset(3, 5, 1), (std::vector<Index>{0, 1, 2}));
}

}  // namespace regression_test
}  // namespace mixcert
