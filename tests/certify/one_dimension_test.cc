// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks [1-1-1], whose output law is a one-dimensional integral: the true W1 and W2 to the
// returned mixture, by numerical integration, lie below the bounds; and the W1 bound equals its
// formula (S.5) by numerical integration.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "certify/small_networks.h"
#include "mixcert/certify/certify.h"
#include "support/matchers.h"
#include "support/naive_scalar.h"

namespace mixcert::testing {
namespace one_dimension_test {

double density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi); }
double distribution(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// Trapezoidal rule; spectrally accurate for functions that vanish at both ends.
double integrate(const std::function<double(double)>& f, double low, double high, int steps) {
  double sum = 0.5 * (f(low) + f(high));
  for (int i = 1; i < steps; ++i) sum += f(low + (high - low) * i / steps);
  return sum * (high - low) / steps;
}

/// Hidden z ~ N(mean, deviation^2), output N(weight s(z), weight_variance s(z)^2 + noise).
struct ScalarNetwork {
  double mean, deviation, weight, weight_variance, noise;
  ActivationFunction function;

  [[nodiscard]] Network network() const {
    return network_of({scalar_layer(mean, deviation * deviation, 0.0, 0.0),
                       scalar_layer(weight, weight_variance, 0.0, noise)},
                      function);
  }
  [[nodiscard]] double cdf(double y) const {
    const Activation s(function);
    return integrate(
        [&](double x) {
          const double a = naive_activation(s, mean + deviation * x);
          return density(x) * distribution((y - weight * a) / std::sqrt(weight_variance * a * a + noise));
        },
        -8.5, 8.5, 600);
  }
};

double mixture_cdf(const GaussianMixture& mixture, double y) {
  double sum = 0.0;
  for (Index i = 0; i < mixture.size(); ++i) {
    const Gaussian& g = mixture.component(i);
    sum += mixture.weights()(i) * distribution((y - g.mean(0)) / std::sqrt(g.covariance.trace()));
  }
  return sum;
}

/// Both distribution functions on one grid of outputs.
struct Tabulated {
  Vector y, p, q;
};

Tabulated tabulate(const ScalarNetwork& scalar, const GaussianMixture& mixture) {
  const double reach = 12.0 * std::sqrt(mixture.second_moment()) + 3.0;
  Tabulated table{Vector::LinSpaced(1500, -reach, reach), Vector(1500), Vector(1500)};
  for (Index i = 0; i < table.y.size(); ++i) {
    table.p(i) = scalar.cdf(table.y(i));
    table.q(i) = mixture_cdf(mixture, table.y(i));
  }
  return table;
}

double quantile(const Vector& y, const Vector& cdf, double u) {
  const double* above = std::lower_bound(cdf.data(), cdf.data() + cdf.size(), u);
  const Index i = std::clamp<Index>(above - cdf.data(), 1, cdf.size() - 1);
  const double share = (u - cdf(i - 1)) / std::max(1e-300, cdf(i) - cdf(i - 1));
  return y(i - 1) + std::clamp(share, 0.0, 1.0) * (y(i) - y(i - 1));
}

double true_w1(const Tabulated& table) {
  return (table.p - table.q).cwiseAbs().sum() * (table.y(1) - table.y(0));
}

double true_w2(const Tabulated& table) {
  double sum = 0.0;
  const int steps = 20000;
  for (int i = 0; i < steps; ++i) {
    const double u = (i + 0.5) / steps;
    sum += std::pow(quantile(table.y, table.p, u) - quantile(table.y, table.q, u), 2);
  }
  return std::sqrt(sum / steps);
}

Result certify_scalar(const ScalarNetwork& scalar, Index points) {
  Options options;
  options.method = Method::Signature;
  options.signature_size = points;
  options.components = 0;
  return certify(scalar.network(), Matrix::Ones(1, 1), options).front();
}

TEST(OneDimension, TrueDistancesLieBelowTheBounds) {
  for (const ScalarNetwork& scalar : {ScalarNetwork{0.3, 1.0, 1.0, 0.2, 0.1, ActivationFunction::Tanh},
                                      ScalarNetwork{-0.7, 2.0, 0.5, 0.5, 0.05, ActivationFunction::Relu},
                                      ScalarNetwork{0.0, 0.5, 2.0, 0.01, 0.2, ActivationFunction::Gelu},
                                      ScalarNetwork{1.0, 1.5, 1.0, 0.0, 0.3, ActivationFunction::Identity}}) {
    for (const Index points : {1, 2, 5}) {
      const Result result = certify_scalar(scalar, points);
      const Tabulated table = tabulate(scalar, result.mixture);
      EXPECT_LE(true_w1(table), result.w1.value) << to_string(scalar.function) << ", N = " << points;
      EXPECT_LE(true_w2(table), result.w2.value) << to_string(scalar.function) << ", N = " << points;
      EXPECT_LE(result.w1.value, result.w2.value);
    }
  }
}

/// For the identity the bound is  (weight^2 + variance)^{1/2} deviation E|x - nearest location|.
TEST(OneDimension, W1BoundIsTheMeanDistance) {
  const ScalarNetwork scalar{0.2, 0.7, 1.3, 0.6, 0.1, ActivationFunction::Identity};
  for (const Index points : {1, 2, 3, 7}) {
    const Vector& locations = naive_quantizer(points, false).locations;
    const auto distance = [&](double x) { return (locations.array() - x).abs().minCoeff() * density(x); };
    const double mean_distance = integrate(distance, -10.0, 10.0, 400000);
    const Result result = certify_scalar(scalar, points);
    EXPECT_TRUE(is_close(result.w1.nominal, std::sqrt(1.3 * 1.3 + 0.6) * 0.7 * mean_distance, 1e-8));
    EXPECT_LT(result.w1.value, result.w2.value);
  }
}

}  // namespace one_dimension_test
}  // namespace mixcert::testing
