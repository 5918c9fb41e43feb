// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The reverse mode of the moment method at one input: its parts (Z.6) to (Z.10), and the bound and law that
// certify() returns, against differences.
#include <string>
#include <tuple>

#include "certify/surrogate_law.h"
#include "gradient/hermite_form_gradient.h"
#include "gradient/piece_gradient.h"
#include "gradient_checks.h"
#include "mixcert/core/error.h"
#include "mixcert/gradient/bound_gradient.h"
#include "mixcert/propagate/certify.h"
#include "support/random_network.h"

namespace mixcert {
namespace {

using namespace mixcert::testing;

using Fields = std::vector<std::pair<Vector SurrogateLaw::*, Vector SurrogateGradient::*>>;

const Fields& differentiated_fields() {
  static const Fields fields = {{&SurrogateLaw::mean, &SurrogateGradient::mean},
                                {&SurrogateLaw::gain, &SurrogateGradient::gain},
                                {&SurrogateLaw::linear, &SurrogateGradient::linear},
                                {&SurrogateLaw::quadratic, &SurrogateGradient::quadratic},
                                {&SurrogateLaw::rest, &SurrogateGradient::rest},
                                {&SurrogateLaw::second, &SurrogateGradient::second},
                                {&SurrogateLaw::square_slope, &SurrogateGradient::square_slope},
                                {&SurrogateLaw::square_rest, &SurrogateGradient::square_rest}};
  return fields;
}

Gaussian independent_piece(const Vector& mean, const Vector& deviations) {
  return {mean, Covariance::diagonal(deviations.cwiseAbs2())};
}

TEST(SurrogateGradient, EveryFieldOfEveryActivation) {
  Generator generator = make_generator(1, Stream::Example, 0);
  for (const ActivationFunction function : all_activation_functions()) {
    const Activation activation(function, 0.1);
    const Vector mean = random_matrix(generator, 6, 1);
    const Vector s = random_matrix(generator, 6, 1).cwiseAbs().array() + 0.2;
    const Vector dm = random_matrix(generator, 6, 1);
    const Vector ds = 0.2 * random_matrix(generator, 6, 1);
    const SurrogateLaw law = surrogate_law(activation, independent_piece(mean, s));
    for (const auto& [field, bar_field] : differentiated_fields()) {
      SurrogateGradient bar = SurrogateGradient::zero(6);
      bar.*bar_field = random_matrix(generator, 6, 1);
      const CoordinateGradient gradient = surrogate_gradient(activation, mean, s, 1, law, bar);
      const double measured = difference(
          [&](double t) {
            const SurrogateLaw there =
                surrogate_law(activation, independent_piece(mean + t * dm, s + t * ds));
            return (bar.*bar_field).dot(there.*field);
          },
          1e-3);
      const double size = gradient.mean.norm() * dm.norm() + gradient.deviation.norm() * ds.norm();
      // Where only rounding is left (identity) the field itself is some 1e-8.
      EXPECT_NEAR(measured, gradient.mean.dot(dm) + gradient.deviation.dot(ds), 1e-7 * size + 2e-7)
          << to_string(function) << ", field " << &field - &differentiated_fields().front().first;
    }
  }
}

TEST(SurrogateGradient, ConstantsMoveWithTheirMeans) {
  const Activation activation(ActivationFunction::Softplus);
  const Vector mean = Vector::LinSpaced(4, -1.0, 1.0);
  const Vector zeros = Vector::Zero(4);
  const SurrogateLaw law = surrogate_law(activation, independent_piece(mean, zeros));
  SurrogateGradient bar = SurrogateGradient::zero(4);
  bar.mean.setConstant(0.7);
  bar.second.setConstant(0.4);
  const CoordinateGradient gradient = surrogate_gradient(activation, mean, zeros, 1, law, bar);
  for (Index j = 0; j < 4; ++j) {
    const auto f = [&](double t) {
      const double a = std::log1p(std::exp(mean(j) + t));
      return 0.7 * a + 0.4 * a * a;
    };
    EXPECT_NEAR(gradient.mean(j), difference(f, 1e-3), 1e-10);
    EXPECT_EQ(gradient.deviation(j), 0.0);
  }
}

/// The form by its definition, from a covariance.
double naive_form(const Matrix& gram, const Matrix& covariance, const Vector& p, const Vector& q,
                  const Vector& t) {
  double sum = 0.0;
  for (Index i = 0; i < p.size(); ++i) {
    for (Index j = 0; j < p.size(); ++j) {
      const double r = covariance(i, j) / std::sqrt(covariance(i, i) * covariance(j, j));
      sum += gram(i, j) * (r * p(i) * p(j) + r * r * q(i) * q(j)) +
             std::abs(gram(i, j) * r * r * r) * t(i) * t(j);
    }
  }
  return sum;
}

TEST(HermiteFormGradient, MatchesDifferencesOfTheDefinition) {
  for (const bool independent : {false, true}) {
    Generator generator = make_generator(2, Stream::Example, independent ? 1 : 0);
    const Index n = 5;
    const auto symmetric = [&] {
      const Matrix x = random_matrix(generator, n, n);
      return Matrix(x + x.transpose());
    };
    const auto vector = [&] { return Vector(random_matrix(generator, n, 1)); };
    const Matrix gram = random_covariance(generator, n);
    Matrix covariance = random_covariance(generator, n);
    Matrix dc = 0.1 * symmetric();
    if (independent) {
      covariance = Matrix(covariance.diagonal().asDiagonal());
      dc.setZero();
    }
    const Matrix db = 0.1 * symmetric();
    const Vector p = vector(), q = vector(), t = vector().cwiseAbs();
    const Vector dp = vector(), dq = vector(), dt = 0.1 * vector();
    const Vector s = covariance.diagonal().cwiseSqrt();
    const Matrix r = s.cwiseInverse().asDiagonal() * covariance * s.cwiseInverse().asDiagonal();
    const HermiteFormGradient form = hermite_form_gradient(gram, independent ? Matrix() : r, p, q, t);
    EXPECT_NEAR(form.value, naive_form(gram, covariance, p, q, t), 1e-12 * std::abs(form.value));
    double expected =
        form.gram.cwiseProduct(db).sum() + form.linear.dot(dp) + form.quadratic.dot(dq) + form.rest.dot(dt);
    if (!independent) {
      Matrix covariance_bar = Matrix::Zero(n, n);
      Vector deviation_bar = Vector::Zero(n);
      add_correlation_gradient(r, form.correlation, s, covariance_bar, deviation_bar);
      covariance_bar.diagonal() += 0.5 * deviation_bar.cwiseQuotient(s);
      expected += covariance_bar.cwiseProduct(dc).sum();
    }
    const double measured = difference(
        [&](double h) {
          return naive_form(gram + h * db, covariance + h * dc, p + h * dp, q + h * dq, t + h * dt);
        },
        1e-4);
    EXPECT_NEAR(measured, expected, 1e-9 * (std::abs(expected) + std::abs(form.value)));
  }
}

TEST(RootDeviationGradient, BothFormulas) {
  const auto bound = [](double variance, double mean, double least) {
    const double roots = std::sqrt(mean) + std::sqrt(least);
    const double w = variance / (mean * mean);
    return std::min(variance / (roots * roots), 2.0 * mean * (1.0 - 1.0 / std::sqrt(1.0 + w)));
  };
  const std::vector<std::tuple<double, double, double>> cases = {
      {0.3, 1.0, 0.5}, {0.3, 1.0, 0.0}, {40.0, 1.0, 0.01}, {1e-4, 2.0, 1e-3}};
  for (const auto& [variance, mean, least] : cases) {
    const RootDeviationGradient d = root_deviation_gradient(variance, mean, least);
    const double v = variance, m = mean, l = least;
    EXPECT_NEAR(d.variance, difference([&](double t) { return bound(v + t, m, l); }, 1e-4 * v), 1e-9);
    EXPECT_NEAR(d.mean, difference([&](double t) { return bound(v, m + t, l); }, 1e-4 * m), 1e-8);
    const double step = 1e-3 * l;
    const double of_least = l > 0.0 ? difference([&](double t) { return bound(v, m, l + t); }, step) : 0.0;
    EXPECT_NEAR(d.least, of_least, 1e-8 * (1.0 + std::abs(of_least)));
  }
}

/// Which carriers were chosen: differences mean nothing across a change.
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
        << what << ", parameter " << static_cast<int>(parameter) << ", carriers " << chosen;
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
  EXPECT_THROW(bound.gradient(1.0, Vector::Ones(3)), InvalidArgument);
  EXPECT_THROW(bound.gradient(1.0, Vector::Ones(2), Matrix::Ones(3, 3)), InvalidArgument);
}

}  // namespace
}  // namespace mixcert
