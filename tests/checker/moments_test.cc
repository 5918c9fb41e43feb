// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The checker's moments hold those of a naive sum over a fine grid, and are narrow.
#include "checker/moments.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mixcert::testing {
namespace moments_test {

using mixcert_check::Activation;
using mixcert_check::Ball;
using mixcert_check::Json;
using mixcert_check::Moments;

struct Naive {
  double mean = 0, linear = 0, quadratic = 0, second = 0, square_slope = 0, fourth = 0;
};

/// E of everything by the trapezoidal rule with 40,001 nodes, in long double.
template <class F>
Naive naive_moments(const F& f, long double m, long double s) {
  long double sums[6] = {};
  for (int i = -20000; i <= 20000; ++i) {
    const long double x = i / 2000.0L,
                      weight = std::exp(-x * x / 2) / std::sqrt(2 * 3.14159265358979323846L) / 2000;
    const long double a = f(m + s * x);
    const long double parts[6] = {a,     a * x,     a * (x * x - 1) / std::sqrt(2.0L),
                                  a * a, a * a * x, a * a * a * a};
    for (int k = 0; k < 6; ++k) sums[k] += weight * parts[k];
  }
  return {double(sums[0]), double(sums[1]), double(sums[2]),
          double(sums[3]), double(sums[4]), double(sums[5])};
}

void expect_holds(const Ball& ball, double naive, double tolerance, const char* what) {
  EXPECT_GE(naive, lower_end(ball) - tolerance) << what;
  EXPECT_LE(naive, upper_end(ball) + tolerance) << what;
  EXPECT_LE(upper_end(ball) - lower_end(ball), 1e-15 * (1.0 + std::abs(naive))) << what;
}

template <class F>
void expect_moments(const char* name, const F& f) {
  const Activation activation =
      Activation::of(Json::parse(std::string("{\"type\":\"activation\",\"function\":\"") + name + "\"}"));
  for (const double m : {-3.0, -0.4, 0.0, 0.7, 5.0}) {
    for (const double s : {0.03, 0.5, 2.0}) {
      SCOPED_TRACE(std::string(name) + ", m = " + std::to_string(m) + ", s = " + std::to_string(s));
      const Moments made = moments_of(activation, m, s);
      const Naive naive = naive_moments(f, m, s);
      // Kinks: the naive sum's error is of the order of the squared step.
      const double tolerance = 1e-6 * (1.0 + s * s);
      expect_holds(made.mean, naive.mean, tolerance, "mean");
      expect_holds(made.linear, naive.linear, tolerance, "linear");
      expect_holds(made.quadratic, naive.quadratic, tolerance, "quadratic");
      expect_holds(made.second, naive.second, tolerance * (1 + m * m), "second");
      expect_holds(made.variance, naive.second - naive.mean * naive.mean, tolerance * (1 + m * m),
                   "variance");
      expect_holds(made.square_slope, naive.square_slope, tolerance * (1 + m * m), "square_slope");
      expect_holds(made.square_variance, naive.fourth - naive.second * naive.second,
                   tolerance * (1 + m * m * m * m) * 10, "square_variance");
    }
  }
}

using Real = long double;

TEST(CheckerMoments, AreThoseOfNaiveSums) {
  expect_moments("identity", [](Real z) { return z; });
  expect_moments("relu", [](Real z) { return z > 0 ? z : Real(0); });
  expect_moments("leaky_relu", [](Real z) { return z > 0 ? z : Real(0.01) * z; });
  expect_moments("tanh", [](Real z) { return std::tanh(z); });
  expect_moments("sigmoid", [](Real z) { return 1 / (1 + std::exp(-z)); });
  expect_moments("erf", [](Real z) { return std::erf(z); });
  expect_moments("gelu", [](Real z) { return z * std::erfc(-z / std::sqrt(Real(2))) / 2; });
  expect_moments("silu", [](Real z) { return z / (1 + std::exp(-z)); });
  expect_moments("softplus", [](Real z) { return std::log1p(std::exp(z)); });
}

/// (H.1), (H.2) have no other protection against a coefficient that is off.
TEST(CheckerMoments, ObeyPythagoras) {
  for (const char* name : {"tanh", "gelu", "relu"}) {
    const Activation f =
        Activation::of(Json::parse(std::string("{\"type\":\"activation\",\"function\":\"") + name + "\"}"));
    for (const double s : {1e-9, 1e-4, 1.0, 50.0}) {
      const Moments made = moments_of(f, 0.3, s);
      const Ball rest = made.variance - square(made.linear) - square(made.quadratic);
      EXPECT_GE(upper_end(rest), 0.0) << name << ' ' << s;
      EXPECT_GE(upper_end(made.square_variance - square(made.square_slope)), 0.0) << name << ' ' << s;
    }
  }
}

TEST(CheckerMoments, NothingRandom) {
  const Activation f = Activation::of(Json::parse(R"({"type":"activation","function":"tanh"})"));
  const Moments made = moments_of(f, 0.5, 0.0);
  EXPECT_NEAR(made.mean.about(), std::tanh(0.5), 1e-15);
  EXPECT_TRUE(made.variance.is_zero() && made.linear.is_zero());
}

}  // namespace moments_test
}  // namespace mixcert::testing
