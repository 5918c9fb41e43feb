// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Functions made of pieces (V.9): what their records claim against fifty digits and against samples in the
// ellipses of panels, and that facts of one neuron which nobody has proved for them are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "activation/activation_traits.h"
#include "activation/neuron/neuron_nodes.h"
#include "activation/neuron/upper_sums.h"
#include "activation/quadrature_moments.h"
#include "activation/quadrature_rules.h"
#include "activation/reference_moments.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"

namespace mixcert {
namespace pieced_moments_test {

using testing::Precise;
using F = ActivationFunction;
using Complex = std::complex<double>;

std::vector<Activation> pieced_activations() {
  using Parameters = ActivationParameters;
  std::vector<Activation> all;
  for (const F function : all_activation_functions()) {
    if (Activation(function).traits().pieced() != nullptr) all.emplace_back(function);
  }
  all.emplace_back(F::Hardtanh, Parameters{.lower = 0.25, .upper = 2.0});
  all.emplace_back(F::Hardtanh, Parameters{.lower = -1e-6, .upper = 3e5});
  for (const double alpha : {1e-3, 0.4, 7.0}) {
    all.emplace_back(F::Elu, Parameters{.alpha = alpha});
    all.emplace_back(F::Celu, Parameters{.alpha = alpha});
  }
  return all;
}

class PiecedFunction : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Activation f = pieced_activations()[GetParam()];
  const Pieced& pieced = *f.traits().pieced();
  const ActivationParameters& with = f.parameters();
  Generator generator = make_generator(34, Stream::Example);

  double random_between(double lower, double upper) { return lower + (upper - lower) * uniform(generator); }
  /// Near a kink, or anywhere.
  double random_place() {
    const Cuts kinks = pieced.kinks(with);
    const double kink = kinks[generator() % kinks.size()];
    const double size = std::pow(10.0, random_between(-12.0, 3.0));
    return uniform(generator) < 0.2 ? kink : kink + random_between(-size, size);
  }
};

TEST_P(PiecedFunction, DifferencesAreAccurateAtEverySize) {
  for (int i = 0; i < 3000; ++i) {
    const double from = random_place(), size = std::pow(10.0, random_between(-30.0, 3.0));
    const double step = random_between(-size, size);
    const Precise exact = testing::naive_activation<Precise>(f, Precise(from) + Precise(step)) -
                          testing::naive_activation<Precise>(f, from);
    const auto error = static_cast<double>(abs(Precise(pieced_difference(f, from, step)) - exact));
    // The reference has fifty digits of the values, not of the difference.
    const double of_reference = 1e-46 * (1.0 + std::abs(f(from)));
    EXPECT_LE(error, 96 * kUnitRoundoff * f.lipschitz().upper * std::abs(step) + of_reference)
        << from << " " << step;
  }
}

TEST_P(PiecedFunction, KinksAreWhereSlopesJump) {
  const Cuts kinks = pieced.kinks(with);
  EXPECT_TRUE(std::is_sorted(kinks.begin(), kinks.end()));
  for (int i = 0; i < 2000; ++i) {
    const double x = random_place(), step = 1e-9 * std::max(1e-3, std::abs(x));
    const bool near = std::any_of(kinks.begin(), kinks.end(),
                                  [&](double kink) { return std::abs(kink - x) <= 2.0 * step; });
    if (near) continue;
    EXPECT_NEAR(f.derivative(x - step), f.derivative(x + step), 1e-5 * f.lipschitz().upper) << x;
  }
}

TEST_P(PiecedFunction, SlopesLieInTheirRanges) {
  for (int i = 0; i < 2000; ++i) {
    const double lower = random_place(), upper = lower + std::pow(10.0, random_between(-6.0, 3.0));
    const SlopeRange range = pieced.slopes(lower, upper, with);
    for (int k = 0; k < 20; ++k) {
      const double slope = f.derivative(lower + (upper - lower) * k / 20);
      EXPECT_GE(slope, range.low) << lower << " " << upper;
      EXPECT_LE(slope, range.high) << lower << " " << upper;
    }
  }
  const SlopeRange whole = f.slope_range();
  const SlopeRange unknown = pieced.slopes(std::nan(""), std::nan(""), with);
  // Nothing is known of an interval that is not a number.
  EXPECT_FALSE(std::max(std::abs(unknown.low), std::abs(unknown.high)) <
               std::max(std::abs(whole.low), std::abs(whole.high)));
}

TEST_P(PiecedFunction, IsNearItsLinesFarOut) {
  const FarLines far = pieced.far(with);
  for (int i = 0; i < 3000; ++i) {
    const double z = i % 2 == 0 ? random_place() : random_between(-1e4, 1e4);
    EXPECT_LE(std::abs(f(z) - (z < 0.0 ? far.left : far.right) * z), far.distance * (1.0 + 1e-14) + 1e-15)
        << z;
    EXPECT_LE(std::abs(f(z)), far.largest) << z;
  }
}

/// f' continued from the piece of `inside`.
Complex continued_slope(const Activation& f, double inside, Complex z) {
  switch (f.function()) {
    case F::Hardswish:
      return std::abs(inside) < 3.0 ? (2.0 * z + 3.0) / 6.0 : Complex(f.derivative(inside));
    case F::Softsign: {
      const Complex size = 1.0 + (inside > 0.0 ? z : -z);
      return 1.0 / (size * size);
    }
    case F::Elu:
      return inside > 0.0 ? 1.0 : f.parameters().alpha * std::exp(z);
    case F::Celu:
      return inside > 0.0 ? 1.0 : std::exp(z / f.parameters().alpha);
    case F::Selu:
      return f.derivative(inside) * (inside > 0.0 ? 1.0 : std::exp(z - inside));
    default:
      return f.derivative(inside);
  }
}

TEST_P(PiecedFunction, PanelsFitAndEllipsesBoundTheSlope) {
  const Cuts ends = pieced.panel_ends(with);
  EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
  for (const double kink : pieced.kinks(with)) {
    EXPECT_NE(std::find(ends.begin(), ends.end(), kink), ends.end());
  }
  for (int i = 0; i < 300; ++i) {
    const double s = pieced.largest_deviation(with) * std::pow(10.0, random_between(-9.0, 0.0));
    const double m = i % 3 == 0 ? random_place() : random_between(-6.0, 6.0) * s;
    for (const double cut : {kCut, 12.0}) {
      WeightedNodes rule;
      place_cut_panels(ends.begin(), ends.end(), m, s, cut, rule);
      ASSERT_LE(rule.nodes.size(), kMostNodes);
      EXPECT_NEAR(rule.weights.sum(), 1.0, 1e-12);
      EXPECT_NEAR((rule.weights * rule.nodes.square()).sum(), 1.0, 1e-12);
      if (cut != kCut) continue;
      const double bound = pieced.panel_slope(m - kCut * s, m + kCut * s, with);
      // Panels have 16 nodes; the first two are symmetric about the middle, the last two near the ends.
      for (Index first = 0; first < rule.nodes.size(); first += 16) {
        const double middle = 0.5 * (rule.nodes(first) + rule.nodes(first + 1));
        const double half = 0.5 * (rule.nodes(first + 15) - rule.nodes(first + 14)) / 0.98940093499165;
        for (int k = 0; k < 8; ++k) {
          const Complex unit = std::polar(4.0, 0.25 * k * std::numbers::pi);
          const Complex x = middle + half * 0.5 * (unit + 1.0 / unit);
          // Where exponentials are taken for constants (V.9).
          if (std::abs(f.derivative(m + s * middle)) < 1e-16 * f.lipschitz().upper) continue;
          EXPECT_LE(std::abs(continued_slope(f, m + s * middle, m + s * x)), bound * (1.0 + 1e-6))
              << m << " " << s << " " << middle;
        }
      }
    }
  }
}

TEST_P(PiecedFunction, IsRefusedWhereNothingIsProved) {
  EXPECT_FALSE(has_neuron_nodes(f));
  SummandNeuron neuron{&f, 0.3, 1.0, 0.0, 0.0};
  neuron.weight = 1.0;
  EXPECT_THROW(NeuronNodes(neuron, 2.0, 1.0), InvalidArgument);
  EXPECT_THROW(SlopeTraits{f}, InvalidArgument);
  EXPECT_THROW(SlopeCells(f, 0.0, 1.0), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(All, PiecedFunction, ::testing::Range<std::size_t>(0, pieced_activations().size()));

TEST(PiecedFunctions, OthersHaveNeuronNodes) {
  for (const F function : {F::Relu, F::LeakyRelu, F::Tanh, F::Elu, F::Mish, F::LogSigmoid, F::Tanhshrink}) {
    EXPECT_TRUE(has_neuron_nodes(Activation(function)));
  }
  EXPECT_FALSE(has_neuron_nodes(Activation(F::Elu, ActivationParameters{.alpha = 2.0})));
}

}  // namespace pieced_moments_test
}  // namespace mixcert
