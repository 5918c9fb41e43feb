// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Activations against their textbook formulas in fifty digits, derivatives against finite
// differences, Lipschitz constants and slopes on intervals against sampling.
#include "mixcert/activation/activation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "support/high_precision.h"
#include "support/tolerances.h"

namespace mixcert {
namespace {

using testing::Precise;
using testing::Tolerance;
using F = ActivationFunction;

constexpr double kSlope = -0.3;

Precise textbook(F function, const Precise& x) {
  switch (function) {
    case F::Identity:
      return x;
    case F::Relu:
      return x > 0 ? x : Precise(0);
    case F::LeakyRelu:
      return x > 0 ? x : Precise(kSlope) * x;
    case F::Tanh:
      return tanh(x);
    case F::Sigmoid:
      return 1 / (1 + exp(-x));
    case F::Erf:
      return testing::precise_erf(x);
    case F::Gelu:
      return x * testing::precise_tail(-x);
    case F::Silu:
      return x / (1 + exp(-x));
    case F::Softplus:
      return x > 100 ? x + exp(-x) : log(1 + exp(x));
    case F::Elu:
      return x > 0 ? x : exp(x) - 1;
  }
  return x;
}

class ActivationOf : public ::testing::TestWithParam<F> {
 protected:
  ActivationOf() : activation_(GetParam(), kSlope), generator_(make_generator(31, Stream::Example)) {}
  double random_argument(double range) { return range * (2.0 * uniform(generator_) - 1.0); }

  Activation activation_;
  Generator generator_;
};

TEST_P(ActivationOf, ValuesMatchTheTextbook) {
  for (int i = 0; i < 400; ++i) {
    const double x = random_argument(std::pow(10.0, -3.0 + 4.8 * uniform(generator_)));
    const Precise exact = textbook(GetParam(), x);
    const double error = static_cast<double>(abs(Precise(activation_(x)) - exact));
    EXPECT_LE(error, activation_.value_error(std::abs(x))) << x;
    EXPECT_LE(error, 1e-15 + 4e-15 * std::abs(static_cast<double>(exact))) << x;
  }
  // The bound of the error covers rounding without being silly.
  EXPECT_LE(activation_.value_error(10.0), 1e-13);
}

TEST_P(ActivationOf, StaysFiniteFarOut) {
  for (const double x : {-1e300, -1e6, -800.0, 800.0, 1e6, 1e300}) {
    EXPECT_TRUE(std::isfinite(activation_(x))) << x;
    EXPECT_TRUE(std::isfinite(activation_.derivative(x))) << x;
  }
}

TEST_P(ActivationOf, ApplyIsElementwise) {
  const Matrix x = Matrix::NullaryExpr(5, 7, [&] { return random_argument(4.0); });
  const Matrix y = activation_.apply(x);
  for (Index i = 0; i < x.size(); ++i) EXPECT_EQ(y.data()[i], activation_(x.data()[i]));
}

TEST_P(ActivationOf, DerivativeMatchesFiniteDifferences) {
  constexpr double kStep = 1e-5;
  for (int i = 0; i < 500; ++i) {
    const double x = random_argument(6.0);
    if (std::abs(x) < 2 * kStep) continue;
    const double difference = (activation_(x + kStep) - activation_(x - kStep)) / (2.0 * kStep);
    EXPECT_NEAR(activation_.derivative(x), difference, Tolerance::finite_differences) << x;
  }
}

double known_constant(F function) {
  switch (function) {
    case F::Sigmoid:
      return 0.25;
    case F::Erf:
      return 2.0 / std::sqrt(std::numbers::pi);
    case F::Gelu:
      return 1.1289;
    case F::Silu:
      return 1.09984;
    default:
      return 1.0;
  }
}

TEST_P(ActivationOf, LipschitzConstantIsTrueAndTight) {
  const UpperBound constant = activation_.lipschitz();
  EXPECT_NEAR(constant.nominal, known_constant(GetParam()), 1e-5);
  EXPECT_LE(constant.inflation(), 1e-13);
  double steepest = 0.0;
  for (double x = -20.0; x <= 20.0; x += 1e-3)
    steepest = std::max(steepest, std::abs(activation_.derivative(x)));
  EXPECT_LE(steepest, constant.upper);
  EXPECT_GE(steepest, constant.nominal - 1e-5);
  for (int i = 0; i < 2000; ++i) {
    const double x = random_argument(8.0);
    const double y = x + random_argument(1.0);
    EXPECT_LE(abs(textbook(GetParam(), x) - textbook(GetParam(), y)),
              Precise(constant.upper) * abs(Precise(x) - Precise(y)));
  }
}

TEST_P(ActivationOf, MaxSlopeBoundsSampledSlopesAndIsReached) {
  for (int i = 0; i < 2000; ++i) {
    const double width = std::pow(10.0, -4.0 + 5.0 * uniform(generator_));
    const double lower = random_argument(9.0);
    const UpperBound bound = activation_.max_slope(lower, lower + width);
    double steepest = 0.0;
    constexpr int kSamples = 60;
    for (int k = 0; k <= kSamples; ++k) {
      const double x = lower + width * k / kSamples;
      if (x == lower + width && x <= 0.0) continue;  // right derivative leaves the interval
      steepest = std::max(steepest, std::abs(activation_.derivative(x)));
    }
    EXPECT_LE(steepest, bound.upper) << lower << " " << width;
    EXPECT_LE(bound.nominal, steepest + std::min(1.0, width) * 0.3 + 1e-12) << lower << " " << width;
    EXPECT_LE(bound.upper, activation_.lipschitz().upper);
  }
}

TEST_P(ActivationOf, MaxSlopeTakesInfiniteEnds) {
  const double limit = activation_.lipschitz().upper;
  EXPECT_EQ(activation_.max_slope(-INFINITY, INFINITY).upper, limit);
  for (const double x : {-20.0, -2.0, -0.5, 0.0, 0.5, 2.0, 20.0}) {
    const UpperBound left = activation_.max_slope(-INFINITY, x);
    const UpperBound right = activation_.max_slope(x, INFINITY);
    EXPECT_GE(left.upper, activation_.max_slope(x - 30.0, x).upper);
    EXPECT_GE(right.upper, activation_.max_slope(x, x + 30.0).upper);
    EXPECT_GE(std::max(left.upper, right.upper), limit - 1e-12);
  }
}

TEST_P(ActivationOf, NamesRoundTrip) {
  EXPECT_EQ(parse_activation_function(to_string(GetParam())), GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ActivationOf, ::testing::ValuesIn(all_activation_functions()),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(Activation, LeakySlopesAboveOneRaiseTheConstant) {
  EXPECT_EQ(Activation(F::LeakyRelu, -2.5).lipschitz().upper, 2.5);
  EXPECT_EQ(Activation(F::LeakyRelu, 3.0).lipschitz().upper, 3.0);
  EXPECT_EQ(Activation(F::LeakyRelu, 0.0).lipschitz().upper, 1.0);
  EXPECT_EQ(Activation(F::LeakyRelu, -2.5)(-2.0), 5.0);
}

TEST(Activation, RefusesBadSlopesAndNames) {
  EXPECT_THROW(Activation(F::LeakyRelu, NAN), InvalidArgument);
  EXPECT_THROW(Activation(F::LeakyRelu, INFINITY), InvalidArgument);
  try {
    parse_activation_function("swish");
    FAIL();
  } catch (const InvalidArgument& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("'swish'"), std::string::npos);
    EXPECT_NE(what.find("leaky_relu"), std::string::npos);
  }
}

}  // namespace
}  // namespace mixcert
