// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A prior against a target: certified above statistical above lower, a Gaussian network against its own law,
// mixtures as targets, several outputs.
#include "mixcert/statistics/prior_comparison.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/transport/gaussian_transport.h"
#include "mixcert/transport/mixture_transport.h"
#include "support/matchers.h"
#include "support/random_network.h"

namespace mixcert {
namespace prior_comparison_test {

using testing::is_close;

Network prior(std::vector<Index> widths, double deviation) {
  testing::NetworkRecipe recipe;
  recipe.widths = std::move(widths);
  recipe.mean_scale = 0.0;
  recipe.deviation = deviation;
  return testing::random_network(recipe);
}

Matrix points(Index features, Index count) {
  Generator generator = make_generator(7, Stream::Example, 1);
  return testing::random_matrix(generator, features, count);
}

/// Zero mean, exp(-|x-y|^2/2) between inputs, independent outputs; input-major.
Gaussian smooth_target(const Matrix& inputs, Index outputs) {
  const Index d = inputs.cols();
  Matrix covariance = Matrix::Zero(d * outputs, d * outputs);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double value = std::exp(-0.5 * (inputs.col(i) - inputs.col(j)).squaredNorm());
      for (Index l = 0; l < outputs; ++l) covariance(i * outputs + l, j * outputs + l) = value;
    }
  }
  return {Vector::Zero(d * outputs), Covariance::dense(covariance)};
}

PriorComparisonOptions few_samples() {
  PriorComparisonOptions options;
  options.samples = 3000;
  options.coupled_samples = 1000;
  options.empirical_samples = 200;
  return options;
}

void expect_order(const PriorComparison& got) {
  EXPECT_GT(got.lower.lower, 0.0);
  EXPECT_LE(got.lower.lower, got.w2_upper_statistical);
  EXPECT_LE(got.coupled_cost, got.w2_upper_statistical);
  EXPECT_LE(got.lower.lower, got.w2_certified);
  EXPECT_LE(got.gelbrich_floor, got.lower.plug_in);
  EXPECT_LE(got.empirical.floor, got.empirical.distance);
  for (const PriorCertificate& certificate : got.certificates) {
    EXPECT_EQ(certificate.gap, "");
    EXPECT_GE(certificate.w2, certificate.bound + certificate.distance);
    EXPECT_LE(certificate.gelbrich, certificate.distance);
    EXPECT_LE(got.w2_certified, certificate.w2);
  }
}

TEST(ComparePrior, NumbersAreInOrder) {
  for (const Index outputs : {1, 2}) {
    const Network network = prior({2, 12, 10, outputs}, 0.6);
    const Matrix inputs = points(2, 4);
    const GaussianMixture target(smooth_target(inputs, outputs));
    const PriorComparison got = compare_prior(network, inputs, target, few_samples());
    ASSERT_EQ(got.certificates.size(), 2U);
    expect_order(got);
    EXPECT_TRUE(is_close(got.target_scale, std::sqrt(4.0 * static_cast<double>(outputs)), 1e-12));
    EXPECT_EQ(got.relative(got.target_scale), 1.0);
  }
}

TEST(ComparePrior, MixturesAsTargets) {
  const Network network = prior({2, 8, 1}, 0.6);
  const Matrix inputs = points(2, 3);
  Gaussian shifted = smooth_target(inputs, 1);
  shifted.mean.setConstant(2.0);
  const GaussianMixture target(Eigen::Vector2d(0.4, 0.6), {smooth_target(inputs, 1), shifted});
  PriorComparisonOptions options = few_samples();
  options.signature_size = 0;
  const PriorComparison got = compare_prior(network, inputs, target, options);
  ASSERT_EQ(got.certificates.size(), 1U);
  expect_order(got);
}

/// One affine layer is Gaussian: against its own law nothing is left but rounding and sampling.
TEST(ComparePrior, AgainstItself) {
  const Network network = prior({2, 2}, 1.0);
  const Matrix inputs = points(2, 3);
  Options certify_options;
  certify_options.joint = true;
  const GaussianMixture own = certify(network, inputs, certify_options).front().mixture;
  const PriorComparison got = compare_prior(network, inputs, own, few_samples());
  EXPECT_LE(got.w2_certified, 1e-5 * got.target_scale);
  EXPECT_EQ(got.lower.lower, 0.0);
  EXPECT_LE(got.lower.plug_in, 3.0 * got.gelbrich_floor);
  // Directions that the law lacks get fresh noise of about 1e-8 of its variance.
  EXPECT_LE(got.w2_upper_statistical, 1e-3 * got.target_scale);
}

TEST(ComparePrior, WithoutASimulatedCoupling) {
  testing::NetworkRecipe recipe;
  recipe.widths = {2, 4, 3, 1};
  recipe.weights = testing::WeightFamily::LowRank;
  const Network network = testing::random_network(recipe);
  const Matrix inputs = points(2, 2);
  const PriorComparison got =
      compare_prior(network, inputs, GaussianMixture(smooth_target(inputs, 1)), few_samples());
  EXPECT_NE(got.certificates.front().gap, "");
  EXPECT_TRUE(std::isnan(got.w2_upper_statistical));
  EXPECT_TRUE(std::isfinite(got.w2_certified));
}

TEST(ComparePrior, ThreadsDoNotMatterAndArgumentsAreChecked) {
  const Network network = prior({2, 5, 1}, 0.6);
  const Matrix inputs = points(2, 2);
  const GaussianMixture target(smooth_target(inputs, 1));
  PriorComparisonOptions options = few_samples();
  options.threads = 1;
  const PriorComparison one = compare_prior(network, inputs, target, options);
  options.threads = 3;
  const PriorComparison three = compare_prior(network, inputs, target, options);
  EXPECT_EQ(one.w2_upper_statistical, three.w2_upper_statistical);
  EXPECT_EQ(one.lower.lower, three.lower.lower);
  EXPECT_EQ(one.empirical.distance, three.empirical.distance);
  EXPECT_THROW(compare_prior(network, points(2, 3), target, options), InvalidArgument);
  EXPECT_THROW(compare_prior(network, points(3, 2), target, options), InvalidArgument);
  options.failure_probability = 1.0;
  EXPECT_THROW(compare_prior(network, inputs, target, options), InvalidArgument);
}

TEST(CertifiedMixtureDistance, IsMixtureTransportRoundedUp) {
  const Matrix inputs = points(2, 3);
  Gaussian shifted = smooth_target(inputs, 1);
  shifted.mean.setConstant(2.0);
  Gaussian wide{Vector::Ones(3), Covariance::diagonal(Eigen::Vector3d(1.0, 2.0, 3.0))};
  const GaussianMixture a(Eigen::Vector2d(0.4, 0.6), {smooth_target(inputs, 1), shifted});
  const GaussianMixture b(Eigen::Vector2d(0.5, 0.5), {shifted, wide});
  const double exact = mixture_transport(a, b).distance;
  EXPECT_GE(certified_mixture_distance(a, b), exact);
  EXPECT_TRUE(is_close(certified_mixture_distance(a, b), exact, 1e-12));
}

}  // namespace prior_comparison_test
}  // namespace mixcert
