// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Parts of the reverse mode of the moment method (Z.6) to (Z.8) against differences.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "gradient/moment/moment_gradient.h"
#include "gradient_checks.h"
#include "methods/moment/surrogate_law.h"

namespace mixcert {
namespace surrogate_gradient_cases_test {

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
    for (std::size_t c = 0; c < differentiated_fields().size(); ++c) {
      Vector SurrogateLaw::*const field = differentiated_fields()[c].first;
      Vector SurrogateGradient::*const bar_field = differentiated_fields()[c].second;
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
          << to_string(function) << ", field " << c;
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

}  // namespace surrogate_gradient_cases_test
}  // namespace mixcert
