// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method over several inputs jointly against simulation, against the method for one input, and
// its second moments against brute-force quadrature.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "methods/joint/cross_moments.h"
#include "methods/joint/joint_certificate.h"
#include "methods/joint/joint_tracer.h"
#include "methods/moment/moment_certificate.h"
#include "methods/moment/moment_tracer.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "mixture/symmetric_eigen.h"
#include "support/matchers.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace joint_moment_test {

using F = ActivationFunction;

Options joint_options() {
  Options options;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.joint = true;
  options.threads = 1;
  return options;
}

Matrix joint_samples(const Network& network, const Matrix& inputs, Index samples) {
  SimulationOptions simulation;
  simulation.samples = samples;
  simulation.seed = 5;
  simulation.threads = 1;
  return simulate_joint(network, inputs, simulation);
}

struct Case {
  std::string name;
  NetworkRecipe recipe;
  Index inputs = 3;
  bool prior = false;
  bool repeated = false;  ///< the last input is the first one
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

Network network_of_case(const Case& tested) {
  const Network network = random_network(tested.recipe);
  if (!tested.prior) return network;
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (Index k = 0; k <= network.hidden_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    const double variance = 2.0 / static_cast<double>(layer.inputs());
    layers.emplace_back("prior", Matrix::Zero(layer.outputs(), layer.inputs()), Vector::Zero(layer.outputs()),
                        MeanFieldWeights{Matrix::Constant(layer.outputs(), layer.inputs(), variance)},
                        IndependentBias{Vector::Constant(layer.outputs(), 0.1)});
    activations.push_back(network.activation(k));
  }
  return {std::move(layers), std::move(activations)};
}

Matrix inputs_of_case(const Case& tested) {
  Generator generator = make_generator(tested.recipe.seed, Stream::Example, 77);
  Matrix inputs = random_matrix(generator, tested.recipe.widths.front(), tested.inputs);
  if (tested.repeated) inputs.col(tested.inputs - 1) = inputs.col(0);
  return inputs;
}

class JointBound : public ::testing::TestWithParam<Case> {};

TEST_P(JointBound, IsNeverBelowSimulation) {
  const Network network = network_of_case(GetParam());
  const Matrix inputs = inputs_of_case(GetParam());
  const Result result = std::move(certify(network, inputs, joint_options()).front());
  EXPECT_EQ(result.method, Method::Moment);
  ASSERT_TRUE(std::isfinite(result.w2.value));
  EXPECT_TRUE(is_valid_mixture(result.mixture));
  EXPECT_GT(result.w2.value, 0.0);
  EXPECT_LE(result.w2.value - result.w2.nominal, 1e-2 * result.w2.nominal + 1e-4);
  const Matrix samples = joint_samples(network, inputs, 20000);
  const double lower = gelbrich_lower_bound(samples, result.mixture, 11, 0).lower;
  EXPECT_GE(result.w2.value, lower);
}

TEST_P(JointBound, MeansAndCovariancesAreThoseOfTheNetwork) {
  const Network network = network_of_case(GetParam());
  const Matrix inputs = inputs_of_case(GetParam());
  const Result result = std::move(certify(network, inputs, joint_options()).front());
  const Index count = 20000;
  const Matrix samples = joint_samples(network, inputs, count);
  const Vector mean = samples.rowwise().mean();
  const Matrix centred = samples.colwise() - mean;
  const double n = static_cast<double>(count);
  const Matrix covariance = centred * centred.transpose() / n;
  // |E p - E q| <= W2, and the roots of the second moments of the two differ by at most W2.
  const double mean_noise = 6.0 * std::sqrt(covariance.trace() / n);
  EXPECT_LE((mean - result.mixture.mean()).norm(), result.w2.value + mean_noise);
  const double spread = std::sqrt(covariance.trace());
  const double of_mixture = std::sqrt(result.mixture.component(0).covariance.trace());
  const double fourth = centred.colwise().squaredNorm().cwiseAbs2().mean();
  const double noise = 6.0 * std::sqrt(fourth / n) / std::max(spread, 1e-12);
  EXPECT_LE(std::abs(spread - of_mixture), result.w2.value + noise);
}

/// One hidden layer: the mixture has the true means, and the true covariances but for the ridge.
class ShallowNetwork : public ::testing::TestWithParam<Case> {};

TEST_P(ShallowNetwork, HasTheTrueDiagonal) {
  const Network network = network_of_case(GetParam());
  const Matrix inputs = inputs_of_case(GetParam());
  const Options options = joint_options();
  const Result result = std::move(certify(network, inputs, options).front());
  const Vector variances = result.mixture.component(0).covariance.variances();
  for (Index d = 0; d < inputs.cols(); ++d) {
    Options single = options;
    single.joint = false;
    const Result one = std::move(certify(network, inputs.col(d), single).front());
    const Index outputs = network.outputs();
    EXPECT_LE((one.mixture.mean() - result.mixture.mean().segment(d * outputs, outputs)).norm(),
              1e-9 * (1.0 + one.mixture.mean().norm()));
    const Vector expected = one.mixture.component(0).covariance.variances();
    for (Index l = 0; l < outputs; ++l) {
      EXPECT_GE(variances(d * outputs + l), expected(l) * (1.0 - 1e-9));
      EXPECT_LE(variances(d * outputs + l), expected(l) + result.w2.value * result.w2.value);
    }
    EXPECT_GE(result.w2.value * (1.0 + 1e-9), 0.2 * one.w2.value);
  }
}

std::vector<Case> cases() {
  std::vector<Case> list;
  const auto add = [&](const std::string& name, std::vector<Index> widths, F function, double mean_scale,
                       double deviation, Index inputs, bool prior = false, bool repeated = false) {
    NetworkRecipe recipe;
    recipe.widths = std::move(widths);
    recipe.activation = function;
    recipe.mean_scale = mean_scale;
    recipe.deviation = deviation;
    recipe.seed = list.size() + 1;
    list.push_back({name, recipe, inputs, prior, repeated});
  };
  add("relu_one_layer", {3, 12, 2}, F::Relu, 1.0, 0.3, 3);
  add("tanh_one_layer", {3, 12, 2}, F::Tanh, 1.0, 0.3, 4);
  add("gelu_one_layer", {3, 12, 2}, F::Gelu, 1.0, 0.3, 2);
  add("relu_two_layers", {3, 10, 10, 2}, F::Relu, 1.0, 0.2, 3);
  add("tanh_two_layers", {2, 16, 16, 1}, F::Tanh, 1.0, 0.1, 6);
  add("gelu_three_layers", {2, 8, 8, 8, 1}, F::Gelu, 1.0, 0.1, 3);
  add("silu_wide_posterior", {2, 6, 6, 2}, F::Silu, 0.5, 2.0, 3);
  add("sigmoid", {2, 6, 3}, F::Sigmoid, 2.0, 0.5, 5);
  add("leaky_relu", {2, 9, 9, 2}, F::LeakyRelu, 1.0, 0.3, 4);
  add("elu", {2, 9, 2}, F::Elu, 1.0, 0.3, 4);
  add("erf", {2, 9, 9, 2}, F::Erf, 1.0, 0.2, 3);
  add("softplus", {2, 9, 9, 2}, F::Softplus, 1.0, 0.2, 3);
  add("identity", {2, 5, 5, 2}, F::Identity, 1.0, 0.5, 3);
  add("prior_tanh", {2, 64, 64, 1}, F::Tanh, 1.0, 0.3, 5, true);
  add("prior_relu", {2, 64, 64, 64, 1}, F::Relu, 1.0, 0.3, 4, true);
  add("prior_gelu", {2, 32, 2}, F::Gelu, 1.0, 0.3, 3, true);
  add("repeated_relu", {3, 12, 12, 2}, F::Relu, 1.0, 0.3, 2, false, true);
  add("repeated_tanh", {3, 12, 2}, F::Tanh, 1.0, 0.3, 3, false, true);
  add("repeated_prior", {3, 32, 32, 1}, F::Relu, 1.0, 0.3, 3, true, true);
  add("narrow", {2, 1, 1}, F::Relu, 1.0, 0.5, 3);
  add("sure_weights", {2, 8, 8, 2}, F::Tanh, 1.0, 1e-9, 3);
  add("hardtanh", {2, 9, 9, 2}, F::Hardtanh, 1.0, 0.3, 4);
  add("hardswish", {2, 9, 2}, F::Hardswish, 1.0, 0.3, 4);
  add("selu", {2, 9, 9, 2}, F::Selu, 1.0, 0.2, 3);
  add("softsign", {2, 9, 2}, F::Softsign, 1.0, 0.3, 3);
  add("mish", {2, 9, 9, 2}, F::Mish, 1.0, 0.2, 3);
  add("logsigmoid", {2, 9, 9, 2}, F::LogSigmoid, 1.0, 0.2, 3);
  add("tanhshrink", {2, 9, 9, 2}, F::Tanhshrink, 1.0, 0.2, 3);
  return list;
}

std::vector<Case> shallow_cases() {
  std::vector<Case> list;
  for (const Case& tested : cases()) {
    if (tested.recipe.widths.size() == 3) list.push_back(tested);
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Cases, ShallowNetwork, ::testing::ValuesIn(shallow_cases()),
                         [](const auto& tested) { return tested.param.name; });
INSTANTIATE_TEST_SUITE_P(Cases, JointBound, ::testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

struct BruteForce {
  Vector mean = Vector::Zero(2);
  Matrix second = Matrix::Zero(2, 2);  ///< E a a'
  Matrix fourth = Matrix::Zero(2, 2);  ///< E|a - center|^2 (a - center)(a - center)'
};

/// Moments of (f(z_0), f(z_1)) by the product rule of two trapezoidal sums over independent normals.
BruteForce brute_force(const Activation& f, const Vector& mean, const Matrix& covariance,
                       const Vector& center) {
  const double s = std::sqrt(covariance(0, 0));
  const double b = covariance(0, 1) / s;
  const double c = std::sqrt(std::max(0.0, covariance(1, 1) - b * b));
  const double step = 1.0 / 32;
  const int reach = static_cast<int>(8.5 / step);
  BruteForce sums;
  for (int i = -reach; i <= reach; ++i) {
    for (int j = -reach; j <= reach; ++j) {
      const double x = i * step;
      const double y = j * step;
      const double w = step * step * std::exp(-0.5 * (x * x + y * y)) / (2.0 * std::acos(-1.0));
      const Eigen::Vector2d a(f(mean(0) + s * x), f(mean(1) + b * x + c * y));
      const Eigen::Vector2d d = a - center;
      sums.mean += w * a;
      sums.second += w * a * a.transpose();
      sums.fourth += w * d.squaredNorm() * d * d.transpose();
    }
  }
  return sums;
}

struct PairCase {
  F function;
  double mean_0, mean_1, deviation_0, deviation_1, correlation;
};

class CrossMomentsOfAPair : public ::testing::TestWithParam<PairCase> {};

TEST_P(CrossMomentsOfAPair, AgreeWithBruteForce) {
  const PairCase& p = GetParam();
  const Activation f(p.function, 0.1);
  Vector mean(2);
  mean << p.mean_0, p.mean_1;
  Matrix covariance(2, 2);
  const double c = p.correlation * p.deviation_0 * p.deviation_1;
  covariance << p.deviation_0 * p.deviation_0, c, c, p.deviation_1 * p.deviation_1;
  const CrossMoments moments = cross_moments(f, {mean, Covariance::block_diagonal(covariance)}, 2);
  const Vector center = moments.mean.col(0);
  const BruteForce expected = brute_force(f, mean, covariance, center);
  // The naive rule is off by its step squared at kinks.
  const bool kink = p.function == F::Relu || p.function == F::LeakyRelu || p.function == F::Elu;
  const double naive = (kink ? 5e-4 : 1e-9) * (1.0 + p.deviation_0 * p.deviation_1);
  EXPECT_LE((center - expected.mean).norm(), moments.mean_error(0) + naive);
  const Matrix expected_covariance = expected.second - expected.mean * expected.mean.transpose();
  EXPECT_LE((moments.block(0) - expected_covariance).norm(), moments.error(0) + naive);
  // The bound of the fourth moments holds in every direction.
  const Matrix gap = moments.fourth + moments.fourth_error(0) * Matrix::Identity(2, 2) - expected.fourth;
  const double least = symmetric_eigen(gap).values(0);
  EXPECT_GE(least, -20.0 * naive);
  EXPECT_LE(moments.fourth.trace(), (p.function == F::Elu ? 200.0 : 40.0) * expected.fourth.trace());
  const double scale = std::sqrt(moments.block(0)(0, 0) * moments.block(0)(1, 1));
  EXPECT_LE(moments.error(0), (p.function == F::Elu ? 0.3 : 0.02) * scale + 1e-9);
}

std::vector<PairCase> pair_cases() {
  std::vector<PairCase> list;
  for (const F f :
       {F::Relu, F::LeakyRelu, F::Tanh, F::Gelu, F::Silu, F::Softplus, F::Sigmoid, F::Erf, F::Elu}) {
    for (const double r : {-0.9, 0.0, 0.5, 0.95, 0.9999, 1.0}) {
      list.push_back({f, 0.3, 0.3, 0.8, 0.8, r});
      list.push_back({f, -0.5, 0.2, 1.5, 0.7, r});
    }
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Pairs, CrossMomentsOfAPair, ::testing::ValuesIn(pair_cases()));

TEST(JointMoments, IdenticalInputsHaveOneVariance) {
  for (const F f : {F::Relu, F::Tanh, F::Elu}) {
    const Matrix covariance = Matrix::Constant(3, 3, 0.7);
    const CrossMoments moments =
        cross_moments(Activation(f), {Vector::Constant(3, 0.4), Covariance::block_diagonal(covariance)}, 3);
    const Matrix k = moments.block(0);
    EXPECT_LE((k.array() - k(0, 0)).abs().maxCoeff(), 1e-10 * k(0, 0));
    EXPECT_LE(moments.error(0), 1e-6 * k(0, 0));
  }
}

TEST(JointMoments, OneInputIsTheSingleInputMethod) {
  NetworkRecipe recipe;
  recipe.widths = {3, 20, 20, 2};
  const Network network = random_network(recipe);
  const Matrix input = Vector::Constant(3, 0.5);
  const Result single = std::move(certify(network, input,
                                          [] {
                                            Options options = joint_options();
                                            options.joint = false;
                                            return options;
                                          }())
                                      .front());
  const Result joint = std::move(certify(network, input, joint_options()).front());
  EXPECT_EQ(joint.w2.value, single.w2.value);
  // The joint engine itself at one input.
  const Sealed<JointTrace> trace = propagate_jointly(network, input, joint_options(), {});
  const Sensitivity sensitivity = analyse_sensitivity(network);
  const Certificate certificate = evaluate_joint_certificate(
      network, sensitivity, make_error_norms(network, SensitivityMode::Closed), trace);
  EXPECT_GE(certificate.w2.value, 0.9 * single.w2.value);
  EXPECT_LE(certificate.w2.value, 4.0 * single.w2.value);
  EXPECT_LE((trace->output.mean - single.mixture.mean()).norm(), single.w2.value);
}

TEST(JointMoments, RefuseWhatTheyDoNotCover) {
  Options options = joint_options();
  options.pieces = 2;
  EXPECT_THROW(options.validate(), InvalidArgument);
  NetworkRecipe recipe;
  recipe.weights = WeightFamily::Kronecker;
  EXPECT_THROW((void)certify(random_network(recipe), Matrix::Ones(2, 2), joint_options()), InvalidArgument);
  recipe.weights = WeightFamily::MeanField;
  options = joint_options();
  options.max_memory_in_gib = 1e-6;
  recipe.widths = {2, 40, 40, 3};
  EXPECT_THROW((void)certify(random_network(recipe), Matrix::Ones(2, 20), options), ResourceError);
}

TEST(JointMoments, AutoTakesTheSmallerBound) {
  NetworkRecipe recipe;
  recipe.widths = {2, 12, 2};
  const Network network = random_network(recipe);
  Generator generator = make_generator(3, Stream::Example, 0);
  const Matrix inputs = random_matrix(generator, 2, 3);
  Options options = joint_options();
  const double moment = certify(network, inputs, options).front().w2.value;
  options.theorems = TheoremSet::All;
  options.method = Method::Signature;
  const double signature = certify(network, inputs, options).front().w2.value;
  options.method = Method::Auto;
  EXPECT_EQ(certify(network, inputs, options).front().w2.value, std::min(moment, signature));
}

}  // namespace joint_moment_test
}  // namespace mixcert::testing
