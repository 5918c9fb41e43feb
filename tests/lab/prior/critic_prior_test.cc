// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The critic baseline: its loss and gradient against difference quotients of the formulas in double
// precision, slopes of functions in the deviations, the law of the written network, and a short fit.
#include "prior/critic_prior.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mixcert/core/error.h"
#include "mixcert/gp/gaussian_process.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/tune/tune_options.h"
#include "prior/critic.h"
#include "statistics/sample_statistics.h"
#include "support/random_covariances.h"

namespace mixcert::lab {
namespace critic_prior_test {

constexpr Index kInputs = 5;
constexpr Index kWidth = 4;
constexpr double kPenalty = 10.0;

/// w_3 . s(W_2 s(W_1 x + b_1) + b_2) in double.
double naive_critic(const Vector& p, const Vector& x) {
  const auto softplus = [](double h) { return std::log1p(std::exp(h)); };
  Index place = 0;
  const auto layer = [&](const Vector& in) {
    Vector out = Vector::Zero(kWidth);
    for (Index i = 0; i < kWidth; ++i) {
      for (Index j = 0; j < in.size(); ++j) out(i) += p(place++) * in(j);
    }
    for (Index i = 0; i < kWidth; ++i) out(i) = softplus(out(i) + p(place++));
    return out;
  };
  const Vector first = layer(x);
  const Vector second = layer(first);
  return p.tail(kWidth).dot(second);
}

/// Slopes as difference quotients of the critic.
double naive_loss(const Vector& p, const Matrix& network, const Matrix& target, const Vector& mixing) {
  double loss = 0.0;
  const double step = 1e-4;
  for (Index i = 0; i < network.rows(); ++i) {
    loss += naive_critic(p, target.row(i)) - naive_critic(p, network.row(i));
    const Vector mixed = mixing(i) * network.row(i) + (1.0 - mixing(i)) * target.row(i);
    Vector slope(kInputs);
    for (Index j = 0; j < kInputs; ++j) {
      const Vector shift = step * Vector::Unit(kInputs, j);
      slope(j) = (naive_critic(p, mixed + shift) - naive_critic(p, mixed - shift)) / (2.0 * step);
    }
    loss += kPenalty * std::pow(slope.norm() - 1.0, 2);
  }
  return loss / static_cast<double>(network.rows());
}

TEST(Critic, GradientOfThePenalisedLoss) {
  const Critic critic(kInputs, kWidth);
  Generator generator(3);
  const FloatVector parameters = critic.initial_parameters(generator);
  const Matrix network = testing::random_matrix(generator, 150, kInputs);  // two batches
  const Matrix target = 0.5 * testing::random_matrix(generator, 150, kInputs);
  const Vector mixing = Vector::NullaryExpr(150, [&] { return uniform(generator); });
  FloatVector gradient;
  const CriticLoss loss = critic.loss(parameters, network.cast<float>(), target.cast<float>(),
                                      mixing.cast<float>(), kPenalty, 1, gradient);
  const Vector p = parameters.cast<double>();
  EXPECT_NEAR(kPenalty * loss.penalty - loss.difference, naive_loss(p, network, target, mixing), 1e-4);
  Vector expected(p.size());
  for (Index i = 0; i < p.size(); ++i) {
    const Vector shift = 1e-4 * Vector::Unit(p.size(), i);
    expected(i) =
        (naive_loss(p + shift, network, target, mixing) - naive_loss(p - shift, network, target, mixing)) /
        2e-4;
  }
  EXPECT_LE((gradient.cast<double>() - expected).norm(), 1e-4 * expected.norm());
  FloatVector again;
  (void)critic.loss(parameters, network.cast<float>(), target.cast<float>(), mixing.cast<float>(), kPenalty,
                    3, again);
  EXPECT_EQ(gradient, again);
}

TEST(Critic, SlopesInTheFunctions) {
  const Critic critic(kInputs, kWidth);
  Generator generator(4);
  const FloatVector parameters = critic.initial_parameters(generator);
  const Matrix functions = testing::random_matrix(generator, 3, kInputs);
  const Critic::Slopes got = critic.slopes(parameters, functions.cast<float>());
  const Vector p = parameters.cast<double>();
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(got.values(i), naive_critic(p, functions.row(i)), 1e-5);
    for (Index j = 0; j < kInputs; ++j) {
      const Vector x = functions.row(i);
      const Vector shift = 1e-5 * Vector::Unit(kInputs, j);
      EXPECT_NEAR(got.slopes(i, j), (naive_critic(p, x + shift) - naive_critic(p, x - shift)) / 2e-5, 1e-5);
    }
  }
}

class FunctionPriors : public ::testing::TestWithParam<Granularity> {
 protected:
  FunctionPriors()
      : prior_({1, 6, 5, 1}, Activation(ActivationFunction::Tanh), GetParam(),
               Vector::LinSpaced(4, -1.0, 1.0).cast<float>()),
        parameters_(prior_.initial_parameters()) {
    Generator generator(5);
    parameters_ += 0.5F * testing::random_matrix(generator, parameters_.size(), 1).cast<float>();
  }

  FunctionPrior prior_;
  FloatVector parameters_;
};

TEST_P(FunctionPriors, GradientInTheDeviations) {
  Generator generator(6);
  const FloatRows slopes = testing::random_matrix(generator, 40, 4).cast<float>();
  const auto value = [&](const FloatVector& parameters) {
    return prior_.draw(parameters, 40, 1, 2, 1).cast<double>().cwiseProduct(slopes.cast<double>()).sum();
  };
  const FloatVector gradient = prior_.gradient(parameters_, slopes, 1, 2, 1);
  EXPECT_EQ(gradient, prior_.gradient(parameters_, slopes, 1, 2, 3));
  ASSERT_EQ(gradient.size(), prior_.parameter_count());
  for (Index i = 0; i < gradient.size(); ++i) {
    FloatVector up = parameters_;
    FloatVector down = parameters_;
    up(i) += 0.01F;
    down(i) -= 0.01F;
    EXPECT_NEAR(gradient(i), (value(up) - value(down)) / static_cast<double>(up(i) - down(i)),
                2e-3 * gradient.cwiseAbs().maxCoeff());
  }
}

TEST_P(FunctionPriors, NetworkHasTheLawOfTheFunctions) {
  const Matrix functions = prior_.draw(parameters_, 20000, 1, 2, 1).transpose().cast<double>();
  const Matrix inputs = Vector::LinSpaced(4, -1.0, 1.0).transpose();
  SimulationOptions options;
  options.samples = 20000;
  const Matrix simulated = simulate_joint(prior_.network(parameters_), inputs, options);
  EXPECT_LE(testing::two_sample_z(functions, simulated), testing::kSigmas);
}

INSTANTIATE_TEST_SUITE_P(Granularities, FunctionPriors,
                         ::testing::Values(Granularity::PerLayer, Granularity::PerWeight),
                         [](const auto& test) {
                           return test.param == Granularity::PerLayer ? "PerLayer" : "PerWeight";
                         });

double gelbrich_to_target(const Network& network, const CriticPriorOptions& options) {
  const Matrix inputs = Vector::LinSpaced(8, -1.0, 1.0).transpose();
  GaussianProcess process;
  process.kernel = Kernel::parse(options.kernel);
  SimulationOptions simulation;
  simulation.samples = 4000;
  return gelbrich_lower_bound(simulate_joint(network, inputs, simulation),
                              GaussianMixture(process.law(inputs)), 0, 0)
      .plug_in;
}

TEST(CriticPrior, AShortFitComesCloserWhateverTheThreads) {
  CriticPriorOptions options;
  options.arch = "1-16-16-1";
  options.kernel = "rbf(lengthscale=1, variance=0.25)";
  options.samples = 130;
  options.points = 20;
  options.critic_width = 30;
  options.steps = 60;
  options.critic_steps = 40;
  options.learning_rate = 0.03;
  options.threads = 1;
  const CriticPriorResult one = fit_critic_prior(options, nullptr, nullptr);
  ASSERT_EQ(one.history.size(), 60U);
  EXPECT_LT(one.history.back().final_loss, one.history.back().first_loss);
  const double start = std::log1p(std::exp(1.0));
  const PriorParameters parameters({1, 16, 16, 1}, Activation(ActivationFunction::Tanh), PriorForm::PerLayer,
                                   TunedMeans::None);
  const Network before = parameters.network(parameters.isotropic(start * start, true));
  EXPECT_LT(gelbrich_to_target(one.network, options), 0.6 * gelbrich_to_target(before, options));
  options.threads = 3;
  options.steps = 3;
  const CriticPriorResult three = fit_critic_prior(options, nullptr, nullptr);
  EXPECT_EQ(three.history.back().distance, one.history[2].distance);
}

TEST(CriticPrior, ArgumentsAreChecked) {
  CriticPriorOptions options;
  options.arch = "2-16-1";
  EXPECT_THROW(fit_critic_prior(options, nullptr, nullptr), InvalidArgument);
  options.arch = "1-16-1";
  options.kernel = "rfb";
  EXPECT_THROW(fit_critic_prior(options, nullptr, nullptr), InvalidArgument);
  options.kernel = "rbf";
  options.high = -2.0;
  EXPECT_THROW(fit_critic_prior(options, nullptr, nullptr), InvalidArgument);
}

}  // namespace critic_prior_test
}  // namespace mixcert::lab
