// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Hermite coefficients against Gauss-Legendre panels in extended precision, with the polynomials from their
// explicit sums.
#include "activation/hermite_coefficients.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <vector>

namespace mixcert {
namespace hermite_coefficients_test {

using F = ActivationFunction;
using Real = long double;

Real value(F function, Real z) {
  switch (function) {
    case F::Relu:
      return std::max<Real>(z, 0);
    case F::LeakyRelu:
      return z > 0 ? z : static_cast<Real>(0.1) * z;
    case F::Tanh:
      return std::tanh(z);
    case F::Sigmoid:
      return 1 / (1 + std::exp(-z));
    case F::Erf:
      return std::erf(z);
    case F::Gelu:
      return z * std::erfc(-z / std::sqrt(Real(2))) / 2;
    case F::Silu:
      return z / (1 + std::exp(-z));
    case F::Softplus:
      return z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z));
    case F::Elu:
    case F::Celu:
      return z > 0 ? z : std::expm1(z);
    case F::Relu6:
      return std::clamp<Real>(z, 0, 6);
    case F::Hardtanh:
      return std::clamp<Real>(z, -1, 1);
    case F::Hardsigmoid:
      return std::clamp<Real>(z + 3, 0, 6) / 6;
    case F::Hardswish:
      return z * std::clamp<Real>(z + 3, 0, 6) / 6;
    case F::Selu: {
      const Real scale = 1.0507009873554804934193349852946L, alpha = 1.6732632423543772848170429916717L;
      return z > 0 ? scale * z : scale * alpha * std::expm1(z);
    }
    case F::Softsign:
      return z / (1 + std::abs(z));
    case F::Mish:
      return z * std::tanh(z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z)));
    case F::LogSigmoid:
      return z > 0 ? -std::log1p(std::exp(-z)) : z - std::log1p(std::exp(z));
    case F::Tanhshrink:
      return z - std::tanh(z);
    default:
      return z;
  }
}

/// He_p(x) / sqrt(p!) = sum_k (-1/2)^k sqrt(p!) x^{p-2k} / (k! (p-2k)!).
class HermitePolynomial {
 public:
  explicit HermitePolynomial(Index p) : coefficients_(static_cast<std::size_t>(p) + 1) {
    const Real n = static_cast<Real>(p);
    for (Index k = 0; 2 * k <= p; ++k) {
      const Real m = static_cast<Real>(k);
      const Real size = std::exp(std::lgamma(n + 1) / 2 - std::lgamma(m + 1) - std::lgamma(n - 2 * m + 1));
      coefficients_[static_cast<std::size_t>(p - 2 * k)] = std::pow(Real(-0.5), m) * size;
    }
  }
  Real operator()(Real x) const {
    Real sum = 0;
    for (auto c = coefficients_.rbegin(); c != coefficients_.rend(); ++c) sum = sum * x + *c;
    return sum;
  }

 private:
  std::vector<Real> coefficients_;
};

/// Where a function may have a kink.
std::vector<Real> kinks_of(F function) {
  if (function == F::Relu6) return {0, 6};
  if (function == F::Hardtanh) return {-1, 1};
  if (function == F::Hardsigmoid || function == F::Hardswish) return {-3, 3};
  return {0};
}

/// E g(x) by panels that meet at `kinks`, rising.
template <class Function>
Real expectation(const Function& g, const std::vector<Real>& kinks) {
  const Real pi = std::acos(Real(-1));
  Real sum = 0;
  const int panels = 40;
  for (std::size_t side = 0; side <= kinks.size(); ++side) {
    const Real low = side == 0 ? Real(-14) : std::clamp<Real>(kinks[side - 1], -14, 14);
    const Real high = side == kinks.size() ? Real(14) : std::clamp<Real>(kinks[side], -14, 14);
    for (int i = 0; i < panels; ++i) {
      const Real left = low + (high - low) * i / panels;
      const Real right = low + (high - low) * (i + 1) / panels;
      if (!(left < right)) continue;
      sum += boost::math::quadrature::gauss<Real, 20>::integrate(
          [&](Real x) { return g(x) * std::exp(-x * x / 2) / std::sqrt(2 * pi); }, left, right);
    }
  }
  return sum;
}

struct Neuron {
  F function;
  double mean, deviation;
};

class HermiteCoefficients : public ::testing::TestWithParam<Neuron> {};

TEST_P(HermiteCoefficients, AgreeWithPanels) {
  const Neuron& n = GetParam();
  const HermiteExpansion expansion = hermite_expansion(Activation(n.function, 0.1), n.mean, n.deviation);
  std::vector<Real> kink = kinks_of(n.function);
  for (Real& z : kink) z = (z - static_cast<Real>(n.mean)) / static_cast<Real>(n.deviation);
  const auto f = [&](Real x) { return value(n.function, n.mean + static_cast<Real>(n.deviation) * x); };
  double squares = 0.0;
  for (Index p = 1; p <= expansion.order; ++p) {
    const HermitePolynomial hermite(p);
    const Real exact = expectation([&](Real x) { return f(x) * hermite(x); }, kink);
    squares += std::pow(static_cast<double>(exact - static_cast<Real>(expansion.value(p))), 2);
  }
  // The reference itself is good to about 1e-13.
  EXPECT_LE(std::sqrt(squares), expansion.error + 1e-12 * (1.0 + n.deviation));
  EXPECT_LE(expansion.error, 1e-7 * (1.0 + n.deviation));
  const Real slope = expectation(
      [&](Real x) {
        const Real h = 1e-6;
        const Real z = n.mean + static_cast<Real>(n.deviation) * x;
        if (n.function == F::Relu) return z > 0 ? Real(1) : Real(0);
        if (n.function == F::LeakyRelu) return z > 0 ? Real(1) : Real(0.01);
        const Real difference = (value(n.function, z + h) - value(n.function, z - h)) / (2 * h);
        return difference * difference;
      },
      kink);
  const double energy = n.deviation * n.deviation * static_cast<double>(slope);
  EXPECT_GE(expansion.slope_energy, energy * (1.0 - 1e-8));
  const std::vector<F> three_only = {F::Elu, F::Celu, F::Selu, F::Hardswish, F::Softsign};
  const bool has_three = std::find(three_only.begin(), three_only.end(), n.function) != three_only.end();
  EXPECT_EQ(expansion.order, has_three ? 2 : kHermiteOrder);
  if (!has_three) {
    EXPECT_LE(expansion.slope_energy, energy * (1.0 + 1e-6) + 1e-9);
  }
}

std::vector<Neuron> neurons() {
  std::vector<Neuron> list;
  for (const F f : {F::Relu, F::LeakyRelu, F::Tanh, F::Sigmoid, F::Erf, F::Gelu, F::Silu, F::Softplus, F::Elu,
                    F::Relu6, F::Hardtanh, F::Hardsigmoid, F::Hardswish, F::Selu, F::Celu, F::Softsign,
                    F::Mish, F::LogSigmoid, F::Tanhshrink}) {
    for (const double m : {0.0, -2.5, 1.0}) {
      for (const double s : {0.01, 0.5, 3.0}) list.push_back({f, m, s});
    }
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Neurons, HermiteCoefficients, ::testing::ValuesIn(neurons()));

/// Where a neuron is saturated the values at all nodes are equal, so that nothing but the error of the values
/// themselves is left: each of c_3 .. c_24 is charged the e_4 that (V.6) states.
TEST(HermiteCoefficients, SaturatedNeuronsAreChargedTheErrorOfTheirValues) {
  for (const F f : {F::Tanh, F::Sigmoid, F::Erf, F::Gelu, F::Silu, F::Softplus}) {
    for (const double s : {0.5, 2.0, 6.0}) {
      const HermiteExpansion expansion = hermite_expansion(Activation(f), -1000.0, s);
      ASSERT_EQ(expansion.order, kHermiteOrder) << to_string(f);
      const double of_first = expansion.moments.slope.error + expansion.moments.curvature.error;
      const double e4 = kUnitRoundoff * (112.0 + s * (8.0 + 64.0 * 1.3161));
      EXPECT_GE(expansion.error - of_first, std::sqrt(kHermiteOrder - 2.0) * e4) << to_string(f) << " " << s;
    }
  }
}

TEST(HermiteCoefficients, ExtremeNeuronsFallBack) {
  for (const double s : {0.0, 1e-12, 1e4}) {
    const HermiteExpansion expansion = hermite_expansion(Activation(F::Tanh), 0.3, s);
    EXPECT_TRUE(std::isfinite(expansion.error));
    EXPECT_GE(expansion.slope_energy * (1.0 + 1e-9), expansion.variance.value - expansion.variance.error);
  }
  EXPECT_EQ(hermite_expansion(Activation(F::Tanh), 0.3, 1e4).order, 2);
  const HermiteExpansion dead = hermite_expansion(Activation(F::Relu), -100.0, 1.0);
  EXPECT_LE(dead.value.norm(), 1e-300);
}

}  // namespace hermite_coefficients_test
}  // namespace mixcert
