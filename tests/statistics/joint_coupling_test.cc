// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The coupled simulation over several inputs jointly: both sides have the laws they should have, its cost is
// not above the certificate that its coupling proves, and vanishes where the surrogate is exact; samples
// carried on have the law they were carried to.
#include <gtest/gtest.h>

#include <cmath>

#include "methods/joint/joint_tracer.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/gaussian_transport.h"
#include "mixture/symmetric_eigen.h"
#include "statistics/coupled_simulation.h"
#include "statistics/sample_statistics.h"
#include "support/matchers.h"
#include "support/random_network.h"

namespace mixcert {
namespace joint_coupling_test {

using testing::is_close;
using testing::kSigmas;
using Function = ActivationFunction;
using Family = testing::WeightFamily;

constexpr double kFailure = 1e-6;

struct JointCase {
  const char* name;
  testing::NetworkRecipe recipe;
  Index inputs = 3;
};

testing::NetworkRecipe recipe(std::vector<Index> widths, Function activation, double mean_scale,
                              double deviation, Family weights = Family::MeanField) {
  testing::NetworkRecipe result;
  result.widths = std::move(widths);
  result.activation = activation;
  result.mean_scale = mean_scale;
  result.deviation = deviation;
  result.weights = weights;
  return result;
}

Matrix inputs_of(const Network& network, Index count) {
  Generator generator = make_generator(5, Stream::Example, 9);
  return testing::random_matrix(generator, network.inputs(), count);
}

class JointCoupling : public ::testing::TestWithParam<JointCase> {
 protected:
  JointCoupling()
      : network_(testing::random_network(GetParam().recipe)),
        inputs_(inputs_of(network_, GetParam().inputs)) {
    options_.samples = 2500;
    trace_ = *propagate_jointly(network_, inputs_, {}, {});
    samples_ = simulate_coupled_jointly(network_, inputs_, trace_, options_);
  }

  Network network_;
  Matrix inputs_;
  SimulationOptions options_;
  JointTrace trace_;
  CoupledSamples samples_;
};

TEST_P(JointCoupling, SurrogateHasTheMomentsOfTheTrace) {
  const Gaussian output = joint_output(trace_);
  EXPECT_LE(testing::moment_z(samples_.surrogate, output.mean, output.covariance.to_dense()), kSigmas);
}

TEST_P(JointCoupling, NetworkSideIsTheNetwork) {
  EXPECT_LE(testing::two_sample_z(samples_.network, simulate_joint(network_, inputs_, options_)), kSigmas);
}

TEST_P(JointCoupling, CostLiesBetweenLowerBoundAndCertificate) {
  Options options;
  options.joint = true;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.statistics = options_.samples;
  options.threads = 1;
  Services services;
  services.statistics = statistics_service();
  const Result result = certify(network_, inputs_, options, services).front();
  const CoupledDistance distance = coupled_distance(samples_, kFailure);
  ASSERT_TRUE(result.statistics);
  // One input has the trace, and the coupling, of (C.3).
  if (GetParam().inputs > 1) {
    EXPECT_EQ(result.statistics->w2_upper_statistical, distance.w2_upper_statistical);
  }
  EXPECT_LE(result.statistics->w2_lower_statistical, distance.w2_upper_statistical);
  EXPECT_LE(distance.square.mean - kSigmas * distance.square.standard_error,
            result.w2.value * result.w2.value);
}

TEST_P(JointCoupling, DoesNotDependOnThreads) {
  SimulationOptions few = options_;
  few.samples = 75;
  few.threads = 1;
  const CoupledSamples one = simulate_coupled_jointly(network_, inputs_, trace_, few);
  few.threads = 3;
  const CoupledSamples three = simulate_coupled_jointly(network_, inputs_, trace_, few);
  EXPECT_EQ(one.network, three.network);
  EXPECT_EQ(one.surrogate, three.surrogate);
  few.seed = 1;
  EXPECT_NE(one.network, simulate_coupled_jointly(network_, inputs_, trace_, few).network);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, JointCoupling,
    ::testing::Values(JointCase{"OneLayer", recipe({2, 8, 1}, Function::Tanh, 1.0, 0.5)},
                      JointCase{"TwoOutputs", recipe({2, 8, 6, 2}, Function::Relu, 1.0, 0.7)},
                      JointCase{"Prior", recipe({1, 12, 10, 1}, Function::Tanh, 0.0, 1.0), 4},
                      JointCase{"MoreInputsThanNeurons", recipe({2, 3, 3, 1}, Function::Erf, 0.5, 1.0), 6},
                      JointCase{"OneInput", recipe({2, 6, 5, 2}, Function::Gelu, 1.0, 0.8), 1},
                      JointCase{"NoHiddenLayer", recipe({3, 2}, Function::Tanh, 1.0, 0.8), 3}),
    [](const auto& test) { return test.param.name; });

/// Identity activations and random weights in the first layer alone: the surrogate is the network.
TEST(ExactSurrogates, CostNothing) {
  Generator generator = make_generator(1, Stream::Example, 0);
  const auto layer = [&](Family weights, Index inputs, Index outputs) {
    return testing::random_layer(generator,
                                 {weights, testing::BiasFamily::Independent, inputs, outputs, 1.0, 0.7});
  };
  const Network linear({layer(Family::MeanField, 2, 5), layer(Family::Deterministic, 5, 4),
                        layer(Family::Deterministic, 4, 2)},
                       {Activation(), Activation(), Activation()});
  const Matrix inputs = inputs_of(linear, 4);
  SimulationOptions options;
  options.samples = 200;
  const CoupledSamples samples =
      simulate_coupled_jointly(linear, inputs, *propagate_jointly(linear, inputs, {}, {}), options);
  EXPECT_LE((samples.network - samples.surrogate).norm(), 1e-10 * samples.network.norm());

  testing::NetworkRecipe fixed = recipe({2, 5, 4, 2}, Function::Tanh, 1.0, 0.0, Family::Deterministic);
  fixed.bias = testing::BiasFamily::Deterministic;
  const Network deterministic = testing::random_network(fixed);
  const CoupledSamples same = simulate_coupled_jointly(
      deterministic, inputs, *propagate_jointly(deterministic, inputs, {}, {}), options);
  EXPECT_LE((same.network - same.surrogate).norm(), 1e-12 * same.network.norm());
}

/// Z Z' = Y Y', and the expected cost tr Z Z' + tr T - 2 tr(Z T^{1/2}) is the optimal one.
TEST(CoupledFactor, IsOptimalForSingularMatrices) {
  Generator generator = make_generator(2, Stream::Example, 0);
  const Vector zero = Vector::Zero(6);
  for (const Index rows : {1, 4, 6, 20}) {
    for (const Index rank : {1, 3, 6}) {
      const Matrix transposed = testing::random_matrix(generator, rows, 6);
      const Matrix factor = testing::random_matrix(generator, 6, rank);
      const Matrix target = factor * factor.transpose();
      const Matrix law = transposed.transpose() * transposed;
      const SymmetricEigen solver = symmetric_eigen(target);
      const Matrix root =
          solver.vectors * solver.values.cwiseMax(0.0).cwiseSqrt().asDiagonal() * solver.vectors.transpose();
      const Matrix z = coupled_factor(transposed, root);
      EXPECT_TRUE(is_close(Matrix(z * z.transpose()), law, 1e-12));
      const double cost = law.trace() + target.trace() - 2.0 * (z * root).trace();
      EXPECT_TRUE(is_close(cost, gelbrich_squared(zero, law, zero, target), 1e-6, target.trace()));
    }
  }
}

TEST(CarriedSamples, HaveTheTargetsLaw) {
  const Network network = testing::random_network(recipe({1, 12, 10, 2}, Function::Tanh, 0.3, 1.0));
  const Matrix inputs = inputs_of(network, 2);
  const JointTrace trace = *propagate_jointly(network, inputs, {}, {});
  SimulationOptions options;
  options.samples = 6000;
  const CoupledSamples samples = simulate_coupled_jointly(network, inputs, trace, options);
  Generator generator = make_generator(3, Stream::Example, 0);
  const auto component = [&] {
    const Matrix root = testing::random_matrix(generator, 4, 3);
    return Gaussian{testing::random_matrix(generator, 4, 1), Covariance::dense(root * root.transpose())};
  };
  const Gaussian first = component();
  const GaussianMixture target(Eigen::Vector2d(0.3, 0.7), {first, component()});
  const Gaussian from = joint_output(trace);
  const Matrix carried = carry_samples(samples.surrogate, from, target, 0);
  EXPECT_LE(testing::moment_z(carried, target.mean(), target.covariance()), kSigmas);

  // Onto one Gaussian the cost from the surrogate is W2^2, and from the network at least Gelbrich's.
  const Matrix single = carry_samples(samples.surrogate, from, GaussianMixture(first), 0);
  const double squared =
      gelbrich_squared(from.mean, from.covariance.to_dense(), first.mean, first.covariance.to_dense());
  const MeanBound cost = coupled_distance({samples.surrogate, single}, kFailure).square;
  EXPECT_NEAR(cost.mean, squared, kSigmas * cost.standard_error);
  EXPECT_GE(coupled_distance({samples.network, single}, kFailure).w2_upper_statistical,
            gelbrich_lower_bound(samples.network, GaussianMixture(first), 0, 0).lower);
}

TEST(JointCouplingArguments, AreChecked) {
  const Network network = testing::random_network(recipe({2, 4, 1}, Function::Relu, 1.0, 1.0));
  const Matrix inputs = inputs_of(network, 2);
  const JointTrace trace = *propagate_jointly(network, inputs, {}, {});
  EXPECT_THROW(simulate_coupled_jointly(network, inputs.leftCols(1), trace, {}), InvalidArgument);
  const Network deeper = testing::random_network(recipe({2, 4, 4, 1}, Function::Relu, 1.0, 1.0));
  EXPECT_THROW(simulate_coupled_jointly(deeper, inputs, trace, {}), InvalidArgument);
  EXPECT_THROW(simulate_coupled(network, inputs, 0, CouplingTrace{}, {}), InvalidArgument);
}

}  // namespace joint_coupling_test
}  // namespace mixcert
