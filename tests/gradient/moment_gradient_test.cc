// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The reverse mode of the moment method at one input (Z.11): bound and law that certify() returns, against
// differences.
#include "gradient/moment/moment_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "gradient_checks.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "support/random_network.h"

namespace mixcert {
namespace moment_gradient_test {

using namespace mixcert::testing;

/// Which error norms were chosen: differences mean nothing across a change.
std::string choices(const MomentBound& bound) {
  std::string names;
  for (const LayerTerms& terms : bound.certificate().layers) names += terms.metric + " ";
  return names;
}

/// One kind of parameter at a time: the derivatives in variances are smaller than those in means. With
/// `forms_agree` (diagonal A) several forms have the same value and derivatives, and any may be chosen.
void expect_bound_derivatives(const Network& network, const Vector& input, const std::string& what,
                              bool forms_agree = false) {
  Generator generator = make_generator(3, Stream::Example, 9);
  const MomentBound here(network, input);
  const NetworkGradient gradient = here.gradient(1.0);
  const double whole = std::sqrt(dot(gradient, gradient));
  const std::string chosen = choices(here);
  EXPECT_GT(whole, 0.0) << what;
  const NetworkGradient everything = random_direction(generator, network);
  for (const Parameter parameter : all_parameters()) {
    const NetworkGradient direction = only(parameter, everything);
    const NetworkGradient part = only(parameter, gradient);
    const double measured = difference(
        [&](double t) {
          const Network there = moved(network, direction, t);
          const MomentBound bound(there, input);
          EXPECT_TRUE(forms_agree || choices(bound) == chosen) << what << ": the step crosses a kink";
          return bound.bound();
        },
        2e-4);
    const double length = std::sqrt(dot(direction, direction));
    EXPECT_NEAR(measured, dot(part, direction), length * (1e-6 * std::sqrt(dot(part, part)) + 1e-8 * whole))
        << what << ", parameter " << static_cast<int>(parameter) << ", error_norms " << chosen;
  }
}

Vector random_input(Index size) {
  Generator generator = make_generator(4, Stream::Example, 1);
  return random_matrix(generator, size, 1);
}

TEST(MomentBound, BoundAndLawAreThoseOfCertify) {
  const Network network = random_network({{3, 8, 5, 2}});
  const Vector input = random_input(3);
  Options options;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.pieces = 1;
  const Result result = certify(network, input, options).front();
  const MomentBound bound(network, input);
  EXPECT_EQ(bound.bound(), result.w2.value);
  EXPECT_EQ(bound.law().mean, result.mixture.component(0).mean);
  EXPECT_EQ(bound.law().covariance.to_dense(), result.mixture.component(0).covariance.to_dense());
}

TEST(MomentBound, GradientsOfEveryActivation) {
  for (const ActivationFunction function : all_activation_functions()) {
    if (function == ActivationFunction::Identity) continue;
    for (const std::vector<Index>& widths :
         {std::vector<Index>{3, 6, 2}, std::vector<Index>{3, 6, 5, 2}, std::vector<Index>{2, 5, 7, 4, 1}}) {
      const Network network = random_network(
          {widths, WeightFamily::MeanField, BiasFamily::Independent, function, 1.0, 0.3, widths.size()});
      expect_bound_derivatives(network, random_input(widths.front()),
                               std::string(to_string(function)) + std::to_string(widths.size()));
    }
  }
}

TEST(MomentBound, GradientsOfDegenerateNetworks) {
  const Vector input = random_input(3);
  NetworkRecipe recipe{{3, 6, 5, 2}};
  recipe.bias = BiasFamily::Deterministic;
  expect_bound_derivatives(random_network(recipe), input, "fixed biases");
  recipe.mean_scale = 0.0;
  expect_bound_derivatives(random_network(recipe), input, "means of zero", true);
  recipe = {{3, 6, 1, 4, 2}};
  expect_bound_derivatives(random_network(recipe), input, "one neuron");
  const Network base = random_network({{3, 6, 5, 2}});
  const auto fixed = [&](Index k) {
    return DenseLayer("fixed", base.layer(k).weight_mean(), base.layer(k).bias_mean(), DeterministicWeights{},
                      DeterministicBias{});
  };
  const std::vector<ActivationMap> maps = {base.activation(0), base.activation(1), base.activation(2)};
  expect_bound_derivatives(Network({base.layer(0), fixed(1), base.layer(2)}, maps), input, "fixed middle");
  expect_bound_derivatives(Network({base.layer(0), base.layer(1), fixed(2)}, maps), input, "fixed last");
  expect_bound_derivatives(Network({fixed(0), base.layer(1), base.layer(2)}, maps), input, "fixed first");
}

/// Entries of the variances that are zero: from above, where the bound is smooth.
TEST(MomentBound, GradientsAtVariancesOfZero) {
  const Network network = random_network({{3, 6, 5, 2}});
  const Vector input = random_input(3);
  NetworkGradient direction = zero_gradient(network);
  for (Index k = 0; k < 3; ++k) {
    const Matrix& variance = std::get<MeanFieldWeights>(network.layer(k).weights()).variance;
    direction[static_cast<std::size_t>(k)].weight_variance = (variance.array() == 0.0).cast<double>();
  }
  const MomentBound here(network, input);
  const auto f = [&](double t) {
    const Network there = moved(network, direction, t);
    return MomentBound(there, input).bound();
  };
  const double h = 1e-4;
  const double measured = (-11.0 * f(0.0) + 18.0 * f(h) - 9.0 * f(2.0 * h) + 2.0 * f(3.0 * h)) / (6.0 * h);
  const double expected = dot(here.gradient(1.0), direction);
  EXPECT_GT(std::abs(expected), 0.1);
  EXPECT_NEAR(measured, expected, 1e-6 * std::abs(expected));
}

/// Weights so large that some neurons are dead, some gains and rests below 1e-30.
TEST(MomentBound, GradientsWithDeadNeurons) {
  const Network network = random_network({{3, 6, 6, 6, 2},
                                          WeightFamily::MeanField,
                                          BiasFamily::Independent,
                                          ActivationFunction::Gelu,
                                          6.0,
                                          0.3,
                                          2});
  expect_bound_derivatives(network, random_input(3), "dead neurons");
}

TEST(MomentBound, GradientsWithNeuronsThatPassUnchanged) {
  const Network base = random_network({{3, 6, 4, 2}});
  const ActivationMap mixed(Activation(ActivationFunction::Tanh), {true, false, false, true});
  const Network network({base.layer(0), base.layer(1), base.layer(2)},
                        {base.activation(0), base.activation(1), mixed});
  expect_bound_derivatives(network, random_input(3), "mixed");
}

TEST(MomentBound, GradientsOfTheLaw) {
  for (const ActivationFunction function : {ActivationFunction::Relu, ActivationFunction::Gelu}) {
    const Network network = random_network(
        {{3, 6, 8, 4}, WeightFamily::MeanField, BiasFamily::Independent, function, 1.0, 0.3, 5});
    const Vector input = random_input(3);
    Generator generator = make_generator(6, Stream::Example, 2);
    const Vector mean_bar = random_matrix(generator, 4, 1);
    const Matrix half = random_matrix(generator, 4, 4);
    const Matrix covariance_bar = half + half.transpose();
    const NetworkGradient direction = random_direction(generator, network);
    const MomentBound here(network, input);
    const NetworkGradient gradient = here.gradient(0.0, mean_bar, covariance_bar);
    const double measured = difference(
        [&](double t) {
          const Network there = moved(network, direction, t);
          const MomentBound bound(there, input);
          const Matrix covariance = bound.law().covariance.to_dense();
          return mean_bar.dot(bound.law().mean) + covariance_bar.cwiseProduct(covariance).sum();
        },
        1e-3);
    const double size = std::sqrt(dot(gradient, gradient) * dot(direction, direction));
    EXPECT_NEAR(measured, dot(gradient, direction), 1e-9 * size);
  }
}

TEST(MomentBound, NoHiddenLayer) {
  const Network network = random_network({{3, 2}});
  const Vector input = random_input(3);
  const MomentBound bound(network, input);
  const NetworkGradient gradient = bound.gradient(1.0, Vector::Ones(2), Matrix::Identity(2, 2));
  EXPECT_EQ(gradient[0].bias_mean, Vector::Ones(2));
  EXPECT_EQ(gradient[0].weight_mean, Matrix(Vector::Ones(2) * input.transpose()));
  EXPECT_EQ(gradient[0].weight_variance, Matrix(Vector::Ones(2) * input.cwiseAbs2().transpose()));
}

TEST(MomentBound, RefusesWhatHasNoDerivatives) {
  NetworkRecipe recipe{{3, 4, 2}};
  recipe.weights = WeightFamily::Full;
  EXPECT_THROW(MomentBound(random_network(recipe), random_input(3)), InvalidArgument);
  const Network network = random_network({{3, 4, 2}});
  EXPECT_THROW(MomentBound(network, random_input(2)), InvalidArgument);
  const MomentBound bound(network, random_input(3));
  EXPECT_THROW(static_cast<void>(bound.gradient(1.0, Vector::Ones(3))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(bound.gradient(1.0, Vector::Ones(2), Matrix::Ones(3, 3))), InvalidArgument);
}

}  // namespace moment_gradient_test
}  // namespace mixcert
