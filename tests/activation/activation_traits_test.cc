// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the records of the activations claim against samples of the functions, on the line and in strips of
// the complex plane, where slopes come from textbook formulas. A new function is tested as soon as it has a
// record; the compiler asks for its complex slope here.
#include "activation/activation_traits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "activation/quadrature_rules.h"
#include "activation/strip_bound.h"
#include "mixcert/activation/activation.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "theorems/stein/neuron_kernels.h"

namespace mixcert {
namespace activation_traits_test {

using F = ActivationFunction;
using Complex = std::complex<double>;

constexpr double kSlope = -0.3;
// What (V.6), (V.7) and (V.8) assume of every smooth function.
constexpr double kSteepest = 1.1290;

Complex density(Complex z) { return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi); }

/// Phi(x + iy) = Phi(x) + int_0^y i phi(x + it) dt, by the midpoint rule.
Complex cumulative(Complex z) {
  constexpr int kSteps = 2000;
  const double h = z.imag() / kSteps;
  Complex sum = 0.0;
  for (int k = 0; k < kSteps; ++k) sum += density({z.real(), h * (k + 0.5)});
  return 0.5 * std::erfc(-z.real() / std::numbers::sqrt2) + Complex(0.0, h) * sum;
}

Complex logistic(Complex z) { return 1.0 / (1.0 + std::exp(-z)); }

/// f'(z), analytic functions; zero for the others.
Complex complex_slope(F function, Complex z) {
  const Complex g = logistic(z);
  switch (function) {
    case F::Identity:
    case F::Relu:
    case F::LeakyRelu:
    case F::Elu:
    case F::Relu6:
    case F::Hardtanh:
    case F::Hardsigmoid:
    case F::Hardswish:
    case F::Selu:
    case F::Celu:
    case F::Softsign:
      return 0.0;
    case F::Mish: {  // tanh(log q) = (q^2 - 1)/(q^2 + 1)
      const Complex q = 1.0 + std::exp(z), d = q * q + 1.0;
      return (q * q - 1.0) / d + z * 4.0 * q * (q - 1.0) / (d * d);
    }
    case F::LogSigmoid:
      return 1.0 - g;
    case F::Tanhshrink:
      return std::tanh(z) * std::tanh(z);
    case F::Tanh:
      return 1.0 / (std::cosh(z) * std::cosh(z));
    case F::Sigmoid:
      return g * (1.0 - g);
    case F::Erf:
      return 2.0 * std::numbers::inv_sqrtpi * std::exp(-z * z);
    case F::Gelu:
      return cumulative(z) + z * density(z);
    case F::Silu:
      return g * (1.0 + z * (1.0 - g));
    case F::Softplus:
      return g;
  }
  throw InvalidArgument("activation: expected a function of the enum");
}

class TraitsOf : public ::testing::TestWithParam<F> {
 protected:
  TraitsOf()
      : f_(GetParam(), kSlope),
        traits_(f_.traits()),
        linear_(traits_.linear()),
        smooth_(traits_.smooth()),
        pieced_(traits_.pieced()),
        analytic_(traits_.analytic()),
        generator_(make_generator(32, Stream::Example)) {}
  double random_argument(double range) { return range * (2.0 * uniform(generator_) - 1.0); }
  [[nodiscard]] double curvature(double z) const {
    return smooth_->second_derivative(z, f_(z), f_.derivative(z));
  }

  Activation f_;
  const ActivationTraits& traits_;
  const PiecewiseLinear* linear_;
  const Smooth* smooth_;
  const Pieced* pieced_;
  const Analytic* analytic_;
  Generator generator_;
};

TEST_P(TraitsOf, RecordIsTheFunctionsOwn) {
  EXPECT_EQ(traits_.function.get(), GetParam());
  EXPECT_EQ(&traits_of(GetParam()), &traits_);
  const int shapes =
      (linear_ != nullptr ? 1 : 0) + (smooth_ != nullptr ? 1 : 0) + (pieced_ != nullptr ? 1 : 0);
  EXPECT_EQ(shapes, 1);
}

TEST_P(TraitsOf, HomogeneousFunctionsAreTheOnesThatSaySo) {
  bool is_homogeneous = true;
  for (int i = 0; i < 200; ++i) {
    const double x = random_argument(5.0);
    for (const double c : {0.25, 2.0, 1024.0}) is_homogeneous &= f_(c * x) == c * f_(x);
  }
  EXPECT_EQ(f_.is_positively_homogeneous(), is_homogeneous);
  EXPECT_EQ(ActivationMap(f_).is_positively_homogeneous(), is_homogeneous);
  EXPECT_EQ(ActivationMap(f_, {true, false}).is_positively_homogeneous(), is_homogeneous);
}

TEST_P(TraitsOf, ParametersMatterWhereTheRecordSaysSo) {
  using P = ActivationParameters;
  const ActivationParameter all[] = {
      {"slope", &P::slope}, {"lower", &P::lower}, {"upper", &P::upper}, {"alpha", &P::alpha}};
  for (const ActivationParameter& parameter : all) {
    P changed = f_.parameters();
    changed.*parameter.member += 0.25;
    const Activation other(GetParam(), changed);
    bool depends = false, is_listed = false;
    for (const double x : {-3.0, -0.9, -0.5, 0.5, 3.0}) depends |= f_(x) != other(x);
    for (const ActivationParameter& own : parameters_of(GetParam()))
      is_listed |= own.member == parameter.member;
    EXPECT_EQ(is_listed, depends) << parameter.name;
  }
}

TEST_P(TraitsOf, LinearPiecesAreTheFunction) {
  if (linear_ == nullptr) return;
  const double left = linear_->left(kSlope);
  EXPECT_EQ(linear_->has_kink, left != 1.0);
  for (int i = 0; i < 200; ++i) {
    const double x = random_argument(5.0);
    EXPECT_EQ(f_(x), x >= 0.0 ? x : left * x);
  }
}

TEST_P(TraitsOf, ManyPointsAreLikeOne) {
  NodeArray nodes(200);
  for (Index i = 0; i < nodes.size(); ++i) nodes(i) = random_argument(i < 100 ? 3.0 : 900.0);
  for (const double mean : {-2.0, 0.0, 3.0}) {
    NodeValues values;
    NodeArray slopes;
    evaluate_nodes(f_, mean, 1.0, nodes, values);
    evaluate_slopes(f_, mean, 1.0, nodes, slopes);
    for (Index i = 0; i < nodes.size(); ++i) {
      const double z = mean + nodes(i);
      const double value = values.values(i) + values.center + (values.line ? z : 0.0);
      EXPECT_NEAR(value, f_(z), 1e-14 * (2.0 + std::abs(z))) << z;
      EXPECT_NEAR(slopes(i), f_.derivative(z), 64 * kUnitRoundoff) << z;
    }
  }
}

TEST_P(TraitsOf, SmoothFunctionsObeyWhatProofsAssume) {
  if (smooth_ == nullptr) return;
  EXPECT_LE(f_.lipschitz().upper, kSteepest);
  EXPECT_LE(smooth_->curvature, 1.0);
  const Limits& limits = smooth_->limits;
  double low = INFINITY, high = -INFINITY;
  for (double z = -60.0; z <= 60.0; z += 1.0 / 128) {
    const double value = f_(z);
    low = std::min(low, value);
    high = std::max(high, value);
    if (limits.is_bounded()) {
      EXPECT_LE(std::abs(value), 1.0);
    } else {
      EXPECT_LE(std::abs(value - (z < 0.0 ? limits.left() : limits.right()) * z), 1.0);
      EXPECT_NEAR(limits.rest(z), value - z, 1e-14 * (1.0 + std::abs(z)));
    }
  }
  if (limits.is_bounded()) {
    EXPECT_LE(0.5 * (high - low), limits.half_range());
    EXPECT_GE(0.5 * (high - low), limits.half_range() - 1e-12);
  }
}

TEST_P(TraitsOf, SlopesTurnWhereTheRecordSaysSo) {
  if (smooth_ == nullptr) return;
  const SlopeShape& shape = smooth_->slopes;
  const auto [left, right] = shape.turns();
  double low[3] = {}, high[3] = {};  // of the changes of f' left of, between and right of the turns
  constexpr double kStep = 1.0 / 64;
  for (double z = -40.0; z <= 40.0; z += kStep) {
    const double slope = f_.derivative(z);
    EXPECT_GE(slope, f_.slope_range().low - 1e-15) << z;
    if (shape.is_symmetric_about_half()) {
      EXPECT_NEAR(slope + f_.derivative(-z), 1.0, 1e-14) << z;
    }
    const bool turns = (z < left && left < z + kStep) || (z < right && right < z + kStep);
    if (turns) continue;
    const int part = z < left ? 0 : z < right ? 1 : 2;
    low[part] = std::min(low[part], f_.derivative(z + kStep) - slope);
    high[part] = std::max(high[part], f_.derivative(z + kStep) - slope);
  }
  for (int part = 0; part < 3; ++part) EXPECT_LE(std::min(-low[part], high[part]), 1e-15) << part;
  if (shape.has_peak()) {
    EXPECT_EQ(f_.derivative(0.0), f_.max_slope(-50.0, 50.0).nominal);
  }
}

TEST_P(TraitsOf, SecondDerivativesAndBendsBoundWhatIsSampled) {
  if (smooth_ == nullptr) return;
  constexpr double kStep = 1e-5;
  for (int i = 0; i < 3000; ++i) {
    double z0 = random_argument(i % 2 == 0 ? 3.0 : 20.0);
    double z1 = z0 + std::pow(10.0, -3.0 + 3.5 * uniform(generator_));
    if (analytic_ == nullptr && z0 < 0.0) z1 = std::min(z1, 0.0);
    const Bends bends = bends_between(f_, z0, z1, f_.derivative(z0), f_.derivative(z1));
    for (int k = 1; k < 10; ++k) {
      const double z = z0 + (z1 - z0) * k / 10;
      if (std::abs(z) < 2 * kStep) continue;
      const double second = (f_.derivative(z + kStep) - f_.derivative(z - kStep)) / (2.0 * kStep);
      if (analytic_ != nullptr || z < 0.0) {
        EXPECT_NEAR(curvature(z), second, 1e-9) << z;
        const double third = (curvature(z + kStep) - curvature(z - kStep)) / (2.0 * kStep);
        EXPECT_LE(std::abs(third), bends.third + 1e-9) << z0 << " " << z1;
      }
      EXPECT_LE(std::abs(second), bends.second + 1e-9) << z0 << " " << z1;
      EXPECT_LE(std::abs(second), smooth_->curvature + 1e-9) << z;
    }
  }
}

TEST_P(TraitsOf, SizeIsConvexWhereTheRecordSaysSo) {
  if (smooth_ == nullptr) return;
  double least = INFINITY;
  for (double z = -10.0; z <= 10.0; z += 1.0 / 16) {
    const double h = 1.0 / 16;
    least = std::min(least, std::abs(f_(z - h)) - 2.0 * std::abs(f_(z)) + std::abs(f_(z + h)));
  }
  EXPECT_EQ(smooth_->has_convex_size, least >= -1e-14);
}

TEST_P(TraitsOf, StripsBoundSlopesOffTheLine) {
  if (analytic_ == nullptr) return;
  for (const double w : {favourable_half_width(*analytic_, 0.1), favourable_half_width(*analytic_, 3.0),
                         0.5 * analytic_->panel_half_width, 1.0 * analytic_->panel_half_width}) {
    const StripBound bound = strip_bound(*analytic_, w);
    for (double x = -8.0; x <= 8.0; x += 1.0 / 8) {
      for (const double y : {0.0, 0.5 * w, 0.99 * w}) {
        const double h = 1e-4 * w;
        const Complex z(x, y);
        const Complex slope = complex_slope(GetParam(), z);
        const Complex second =
            (complex_slope(GetParam(), z + h) - complex_slope(GetParam(), z - h)) / (2.0 * h);
        EXPECT_LE(std::abs(slope), bound.slope * (1.0 + 1e-6)) << z << " " << w;
        EXPECT_LE(std::abs(second), bound.curvature * (1.0 + 1e-5)) << z << " " << w;
        if (!smooth_->limits.get().is_bounded()) {  // values may be taken less their line
          EXPECT_LE(std::abs(slope - 1.0), bound.slope * (1.0 + 1e-6)) << z << " " << w;
        }
        if (y == 0.0) {
          EXPECT_NEAR(slope.real(), f_.derivative(x), 1e-12) << x;
        }
      }
    }
  }
}

TEST_P(TraitsOf, NothingHappensBeyondTheZone) {
  if (smooth_ == nullptr) return;
  const double lower = analytic_ != nullptr ? -analytic_->zone
                                            : std::get<LeftAnalytic>(smooth_->domain.get()).zone.get().lower;
  const double upper = analytic_ != nullptr ? analytic_->zone.get() : 0.0;
  for (const double beyond : {0.0, 0.5, 10.0}) {
    const Limits& limits = smooth_->limits;
    for (const double side : {-1.0, 1.0}) {
      const double z = side < 0.0 ? lower - beyond : upper + beyond;
      if (limits.follows_line(side)) {
        EXPECT_NEAR(limits.rest(z), limits.rest(800.0 * side), kUnitRoundoff);
      } else {
        EXPECT_NEAR(f_(z), f_(800.0 * side), kUnitRoundoff);
      }
    }
  }
}

TEST_P(TraitsOf, TanhFormsAreTheFunction) {
  if (analytic_ == nullptr || !analytic_->tanh_form.get().exists()) return;
  const TanhForm& form = analytic_->tanh_form;
  for (double z = -5.0; z <= 5.0; z += 0.25) {
    EXPECT_NEAR(f_(z) - f_(0.0), form.height * std::tanh(form.rate * z), 1e-15) << z;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TraitsOf, ::testing::ValuesIn(all_activation_functions()),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(ActivationTraits, NumbersThatAreNoFunctionAreRefused) {
  const int count = static_cast<int>(all_activation_functions().size());
  EXPECT_GE(count, 20);
  for (const int number : {-1, count, 1000}) {
    const F function = static_cast<F>(number);
    EXPECT_EQ(find_traits(function), nullptr);
    EXPECT_THROW(Activation{function}, InvalidArgument);
    EXPECT_THROW(to_string(function), InvalidArgument);
  }
}

}  // namespace activation_traits_test
}  // namespace mixcert
