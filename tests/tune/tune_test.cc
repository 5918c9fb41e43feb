// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Prior selection: parameters and their derivatives, steps, targets, interrupted runs.
#include "mixcert/tune/tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <iterator>

#include "gradient/gradient_checks.h"
#include "io/test_files.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/io/model_file.h"

namespace mixcert {
namespace tune_test {

Matrix grid(Index count) { return Eigen::RowVectorXd::LinSpaced(count, -1.0, 1.0); }

GaussianProcess rbf(double lengthscale) {
  return {MeanFunction::parse("zero"), Kernel::parse("rbf(lengthscale=" + std::to_string(lengthscale) + ")")};
}

TuneOptions small_options() {
  TuneOptions options;
  options.arch = "1-8-6-1";
  options.batch = 5;
  options.steps = 12;
  options.held_out = 6;
  return options;
}

TEST(Architecture, IsParsedOrRefused) {
  EXPECT_EQ(parse_architecture("1-64-2"), (std::vector<Index>{1, 64, 2}));
  for (const char* text :
       {"", "5", "1--2", "1-0-2", "1-x", "-1-2", "1-2-", "1-99999999-1", "1 -2", "1-2\n"}) {
    EXPECT_THROW(parse_architecture(text), InvalidArgument) << text;
  }
}

class PriorFormTest : public ::testing::TestWithParam<std::tuple<PriorForm, TunedMeans>> {};

TEST_P(PriorFormTest, DerivativesAreThoseOfTheNetwork) {
  const auto [form, means] = GetParam();
  const PriorParameters parameters({2, 3, 2}, Activation(ActivationFunction::Tanh), form, means);
  Vector at = parameters.start(0.5, 3);
  Generator generator = make_generator(1, Stream::Example);
  at += 0.1 * testing::random_matrix(generator, at.size(), 1);
  const NetworkGradient weights = testing::random_direction(generator, parameters.network(at));
  // <weights, means and variances of the network>.
  const auto pairing = [&](const Vector& x) {
    const Network network = parameters.network(x);
    NetworkGradient values = zero_gradient(network);
    for (Index k = 0; k < network.layer_count(); ++k) {
      const DenseLayer& layer = network.layer(k);
      values[static_cast<std::size_t>(k)] = {layer.weight_mean(),
                                             std::get<MeanFieldWeights>(layer.weights()).variance,
                                             layer.bias_mean(), layer.bias_variances()};
    }
    return testing::dot(weights, values);
  };
  const Vector gradient = parameters.gradient(at, weights);
  for (Index i = 0; i < at.size(); ++i) {
    const auto along = [&](double t) { return pairing(at + t * Vector::Unit(at.size(), i)); };
    EXPECT_NEAR(gradient(i), testing::difference(along, 1e-3), 1e-9) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PriorFormTest,
    ::testing::Combine(::testing::Values(PriorForm::PerLayer, PriorForm::PerNeuron, PriorForm::PerWeight),
                       ::testing::Values(TunedMeans::None, TunedMeans::Biases, TunedMeans::All)));

TEST(PriorParameters, IsotropicVariances) {
  const PriorParameters parameters({4, 3, 1}, Activation(ActivationFunction::Relu), PriorForm::PerWeight,
                                   TunedMeans::None);
  EXPECT_EQ(parameters.size(), 4 * 3 + 3 + 3 + 1);
  const Network network = parameters.network(parameters.isotropic(2.0, true));
  EXPECT_NEAR(std::get<MeanFieldWeights>(network.layer(0).weights()).variance(1, 2), 0.5, 1e-12);
  EXPECT_NEAR(network.layer(0).bias_variances()(0), 2.0, 1e-12);
}

/// Distance to the target at the held-out inputs, relative.
double held_out_distance(const TuneProblem& problem, const Network& network,
                         const std::vector<Index>& chosen) {
  const GaussianMixture target = problem.target(chosen);
  return evaluate_objective(network, problem.inputs_at(chosen), target, {}, false).distance /
         std::sqrt(target.second_moment());
}

class MethodTest : public ::testing::TestWithParam<Method> {};

TEST_P(MethodTest, StepsApproachTheTarget) {
  const TuneProblem problem = process_problem(rbf(0.7), grid(40), 1);
  TuneOptions options = small_options();
  options.method = GetParam();
  options.prior = PriorForm::PerLayer;
  options.steps = 40;
  options.learning_rate = 0.1;
  const double before =
      held_out_distance(problem, Tuner(problem, options).network(), Tuner(problem, options).held_out());
  const TuneRun run = tune(problem, options);
  EXPECT_EQ(run.history.size(), 40U);
  // Ten signature points leave most neurons of a layer at their mean: that method's mixture sees little.
  const double share = GetParam() == Method::Moment ? 0.5 : 1.0;
  EXPECT_LT(held_out_distance(problem, run.network, run.held_out), share * before);
  for (const TuneStep& step : run.history) {
    EXPECT_TRUE(std::isfinite(step.bound));
    EXPECT_NEAR(step.objective, 0.01 * step.bound + 0.99 * step.distance, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, MethodTest, ::testing::Values(Method::Moment, Method::Signature));

TEST(Tuner, HeldOutInputsAreLeftOut) {
  TuneProblem problem = process_problem(rbf(0.7), grid(30), 1);
  std::vector<Index> seen;
  const auto target = problem.target;
  problem.target = [&](const std::vector<Index>& chosen) {
    seen.insert(seen.end(), chosen.begin(), chosen.end());
    return target(chosen);
  };
  const TuneRun run = tune(problem, small_options());
  ASSERT_EQ(run.held_out.size(), 6U);
  for (const Index i : run.held_out) EXPECT_EQ(std::count(seen.begin(), seen.end(), i), 0) << i;
  EXPECT_EQ(seen.size(), 5U * 12U);
}

TEST(Tuner, AMixtureOverTwoOutputsIsATarget) {
  const Matrix inputs = grid(8);
  Generator generator = make_generator(5, Stream::Example);
  const Matrix a = testing::random_matrix(generator, 16, 16);
  const Gaussian first{Vector::Constant(16, 1.0), Covariance::dense(a * a.transpose() / 16.0)};
  const Gaussian second{Vector::Constant(16, -1.0), Covariance::diagonal(Vector::Ones(16))};
  const TuneProblem problem =
      mixture_problem(GaussianMixture(Eigen::Vector2d(0.25, 0.75), {first, second}), inputs, 2);
  EXPECT_NEAR(problem.target({3}).mean()(1), -0.5, 1e-12);
  EXPECT_NEAR(problem.target({1, 4}).component(0).covariance.to_dense()(1, 2),
              first.covariance.to_dense()(3, 8), 1e-12);
  TuneOptions options = small_options();
  options.arch = "1-6-2";
  options.means = TunedMeans::Biases;
  options.held_out = 2;
  options.steps = 30;
  options.learning_rate = 0.1;
  const TuneRun run = tune(problem, options);
  EXPECT_LT(run.history.back().distance, run.history.front().distance);
  EXPECT_LT(run.network.layer(1).bias_mean().maxCoeff(), -0.1);
}

TEST(Tuner, WhatDoesNotFitIsRefused) {
  const TuneProblem problem = process_problem(rbf(0.7), grid(10), 1);
  const auto refused = [&](auto change) {
    TuneOptions options = small_options();
    change(options);
    EXPECT_THROW(Tuner(problem, options), InvalidArgument);
  };
  refused([](TuneOptions& o) { o.arch = "2-4-1"; });
  refused([](TuneOptions& o) { o.arch = "1-4-2"; });
  refused([](TuneOptions& o) { o.arch = "1-1"; });
  refused([](TuneOptions& o) { o.held_out = 10; });
  refused([](TuneOptions& o) { o.beta = 1.5; });
  refused([](TuneOptions& o) { o.beta = std::nan(""); });
  refused([](TuneOptions& o) { o.method = Method::Cross; });
  refused([](TuneOptions& o) { o.learning_rate = 0.0; });
  EXPECT_THROW(
      mixture_problem(GaussianMixture(Gaussian{Vector::Zero(3), Covariance::diagonal(Vector::Ones(3))}),
                      grid(2), 1),
      InvalidArgument);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TuneFiles, AnInterruptedRunEndsWithTheSamePrior) {
  const test::TempDirectory directory;
  const TuneProblem problem = process_problem(rbf(0.7), grid(30), 1);
  const TuneOptions options = small_options();
  TuneFiles whole;
  whole.out = directory / "whole.safetensors";
  const TuneRun expected = tune(problem, options, whole);
  TuneFiles files = whole;
  files.out = directory / "broken.safetensors";
  CancelFlag cancel{false};
  const TuneServices services{[&](const TuneStep& step) { cancel.store(step.step % 5 == 0); }, &cancel};
  Index interruptions = 0;
  for (bool done = false; !done;) {
    try {
      cancel.store(false);
      const TuneRun run = tune(problem, options, files, services);
      EXPECT_TRUE(run.resumed);
      EXPECT_EQ(run.history.size(), expected.history.size());
      EXPECT_EQ(run.history.back().objective, expected.history.back().objective);
      done = true;
    } catch (const Interrupted&) {
      ++interruptions;
      EXPECT_FALSE(std::filesystem::exists(files.out));
    }
  }
  EXPECT_EQ(interruptions, 2);
  EXPECT_EQ(bytes_of(files.out), bytes_of(whole.out));
  EXPECT_FALSE(std::filesystem::exists(files.out.string() + ".checkpoint"));
  EXPECT_EQ(load_network(files.out).layer(1).outputs(), 6);
}

TEST(TuneFiles, ACheckpointOfAnotherRunIsRefused) {
  const test::TempDirectory directory;
  const TuneProblem problem = process_problem(rbf(0.7), grid(30), 1);
  TuneOptions options = small_options();
  TuneFiles files;
  files.out = directory / "prior.safetensors";
  CancelFlag cancel{true};
  EXPECT_THROW(tune(problem, options, files, TuneServices{nullptr, &cancel}), Interrupted);
  cancel.store(false);
  options.beta = 0.5;
  EXPECT_THROW(tune(problem, options, files), FileError);
  EXPECT_THROW(tune(process_problem(rbf(0.8), grid(30), 1), small_options(), files), FileError);
  files.restart = true;
  EXPECT_FALSE(tune(problem, options, files).resumed);
}

}  // namespace tune_test
}  // namespace mixcert
