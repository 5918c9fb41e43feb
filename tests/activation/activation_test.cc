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

#include "activation/reference_moments.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "support/high_precision.h"
#include "support/tolerances.h"

namespace mixcert {
namespace activation_test {

using testing::Precise;
using testing::Tolerance;
using F = ActivationFunction;

constexpr double kSlope = -0.3;

/// Where a function of default parameters may have a kink.
bool is_near_a_kink(double x, double distance) {
  for (const double kink : {-3.0, -1.0, 0.0, 1.0, 3.0, 6.0}) {
    if (std::abs(x - kink) < distance) return true;
  }
  return false;
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
    const Precise exact = testing::naive_activation<Precise>(activation_, x);
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
    if (is_near_a_kink(x, 2 * kStep)) continue;
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
    case F::Hardsigmoid:
      return 1.0 / 6.0;
    case F::Hardswish:
      return 1.5;
    case F::Selu:
      return 1.7580993408473766;
    case F::Mish:
      return 1.08849816;
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
  for (const double kink : {-3.0, 0.0, 3.0}) {
    steepest = std::max(steepest, std::abs(activation_.derivative(kink - 1e-7)));
  }
  EXPECT_LE(steepest, constant.upper);
  EXPECT_GE(steepest, constant.nominal - 1e-5);
  for (int i = 0; i < 2000; ++i) {
    const double x = random_argument(8.0);
    const double y = x + random_argument(1.0);
    EXPECT_LE(abs(testing::naive_activation<Precise>(activation_, x) -
                  testing::naive_activation<Precise>(activation_, y)),
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
      if (k == kSamples && is_near_a_kink(x, 1e-9)) continue;  // right derivative leaves the interval
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

TEST_P(ActivationOf, DifferenceQuotientsLieInTheSlopeRange) {
  const SlopeRange range = activation_.slope_range();
  EXPECT_LE(std::max(std::abs(range.low), std::abs(range.high)), activation_.lipschitz().upper);
  for (int i = 0; i < 2000; ++i) {
    const Precise x = random_argument(9.0), step = std::pow(10.0, -5.0 + 5.0 * uniform(generator_));
    const Precise quotient = (testing::naive_activation<Precise>(activation_, x + step) -
                              testing::naive_activation<Precise>(activation_, x)) /
                             step;
    EXPECT_GE(quotient, Precise(range.low)) << x;
    EXPECT_LE(quotient, Precise(range.high)) << x;
  }
}

TEST_P(ActivationOf, LargestValueBoundsTheFunction) {
  for (const double x : {-1e6, -30.0, -1.0, 0.0, 1.0, 30.0, 1e6}) {
    EXPECT_LE(std::abs(activation_(x)), activation_.largest_value()) << x;
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

TEST(Activation, ParametersChangeTheirFunctions) {
  using Parameters = ActivationParameters;
  const Activation clip(F::Hardtanh, Parameters{.lower = 0.5, .upper = 2.0});
  EXPECT_EQ(clip(-1.0), 0.5);
  EXPECT_EQ(clip(1.25), 1.25);
  EXPECT_EQ(clip(7.0), 2.0);
  EXPECT_EQ(clip.largest_value(), 2.0);
  EXPECT_EQ(clip.lipschitz().upper, 1.0);
  EXPECT_EQ(clip.max_slope(-5.0, 0.4).upper, 0.0);
  for (const double alpha : {0.25, 1.0, 3.0}) {
    const Activation elu(F::Elu, Parameters{.alpha = alpha}), celu(F::Celu, Parameters{.alpha = alpha});
    EXPECT_EQ(elu.lipschitz().nominal, std::max(1.0, alpha));
    EXPECT_EQ(celu.lipschitz().nominal, 1.0);
    EXPECT_EQ(elu.slope_range().low, 0.0);
    for (const double x : {-40.0, -2.0, -0.1, 0.0, 0.5, 9.0}) {
      EXPECT_NEAR(elu(x), x > 0.0 ? x : alpha * std::expm1(x), 1e-15 * alpha) << x;
      EXPECT_NEAR(celu(x), x > 0.0 ? x : alpha * std::expm1(x / alpha), 1e-15 * alpha) << x;
      EXPECT_NEAR(celu.derivative(x), x >= 0.0 ? 1.0 : std::exp(x / alpha), 1e-15) << x;
      EXPECT_NEAR(elu.derivative(x), x >= 0.0 ? 1.0 : alpha * std::exp(x), 1e-15 * alpha) << x;
    }
  }
}

TEST(Activation, PreluIsLeakyReluWithAnySlope) {
  EXPECT_EQ(parse_activation_function("prelu"), F::LeakyRelu);
  EXPECT_EQ(Activation(F::LeakyRelu, -7.5)(-2.0), 15.0);
}

TEST(Activation, NamesTheParametersOfAFunction) {
  const auto names = [](F function) {
    std::string all;
    for (const ActivationParameter& p : parameters_of(function)) all += std::string(p.name) + " ";
    return all;
  };
  EXPECT_EQ(names(F::Tanh), "");
  EXPECT_EQ(names(F::LeakyRelu), "slope ");
  EXPECT_EQ(names(F::Hardtanh), "lower upper ");
  EXPECT_EQ(names(F::Elu), "alpha ");
  EXPECT_EQ(names(F::Celu), "alpha ");
}

TEST(Activation, RefusesParametersOutOfRange) {
  using Parameters = ActivationParameters;
  for (const double alpha : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(Activation(F::Elu, Parameters{.alpha = alpha}), InvalidArgument);
    EXPECT_THROW(Activation(F::Celu, Parameters{.alpha = alpha}), InvalidArgument);
    EXPECT_NO_THROW(Activation(F::Selu, Parameters{.alpha = alpha}));  // it has no alpha
  }
  EXPECT_THROW(Activation(F::Hardtanh, Parameters{.lower = 1.0, .upper = 1.0}), InvalidArgument);
  EXPECT_THROW(Activation(F::Hardtanh, Parameters{.lower = -HUGE_VAL, .upper = 1.0}), InvalidArgument);
  EXPECT_THROW(Activation(F::Hardtanh, Parameters{.lower = 0.0, .upper = std::nan("")}), InvalidArgument);
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

}  // namespace activation_test
}  // namespace mixcert
