// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One switch for values, one for derivatives, one for kinks.
#include "support/naive_activations.h"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "support/high_precision.h"

namespace mixcert::testing {
namespace {

using F = ActivationFunction;

constexpr double kSeluScale = 1.0507009873554804934, kSeluAlpha = 1.6732632423543772848;

template <class Real>
Real clipped_to(const Real& x, double lower, double upper) {
  if (x < Real(lower)) return Real(lower);
  if (x > Real(upper)) return Real(upper);
  return x;
}

/// x or height (e^(x/length) - 1) on the left.
template <class Real>
Real exponential_left(const Real& x, const Real& height, const Real& length) {
  using std::expm1;
  if (x > 0) return x;
  const Real argument = x / length;
  return argument < -1e6 ? Real(-height) : Real(height * expm1(argument));
}

/// x tanh(log q), tanh(log q) = (q^2 - 1)/(q^2 + 1), q = 1 + e^x; `decay` is e^-|x|.
template <class Real>
Real mish_of(const Real& x, const Real& decay) {
  const Real one = x > 0 ? Real(1 + 2 * decay) : Real(decay * (decay + 2));
  const Real two = x > 0 ? Real(2 * decay * decay) : Real(2);
  return Real(x * one / (one + two));
}

double error_function(double x) { return std::erf(x); }
long double error_function(long double x) { return std::erf(x); }
Precise error_function(const Precise& x) { return precise_erf(x); }
double normal_distribution(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
long double normal_distribution(long double x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
Precise normal_distribution(const Precise& x) { return precise_tail(-x); }

}  // namespace

template <class Real>
Real naive_activation(const Activation& f, const Real& x) {
  using std::abs, std::exp, std::log1p, std::tanh;
  const ActivationParameters& p = f.parameters();
  const Real size = abs(x);
  // e^-|x|; e^-1e6 is 1e-434294: no scale of a double brings it back.
  const auto decay = [&] { return size > 1e6 ? Real(0) : Real(exp(Real(-size))); };
  const auto logistic = [&] {
    const Real e = decay();
    return x > 0 ? Real(1 / (1 + e)) : Real(e / (1 + e));
  };
  const Real positive = x > 0 ? x : Real(0);
  switch (f.function()) {
    case F::Identity:
      return x;
    case F::Relu:
      return positive;
    case F::LeakyRelu:
      return x > 0 ? x : Real(Real(p.slope) * x);
    case F::Tanh:
      return size > 1e6 ? Real(x > 0 ? 1 : -1) : Real(tanh(x));
    case F::Sigmoid:
      return logistic();
    case F::Erf:
      return size > 1e3 ? Real(x > 0 ? 1 : -1) : error_function(x);
    case F::Gelu:
      return size > 1e3 ? positive : Real(x * normal_distribution(x));
    case F::Silu:
      return Real(x * logistic());
    case F::Softplus:
      return Real(positive + log1p(decay()));
    case F::Relu6:
      return clipped_to(x, 0.0, 6.0);
    case F::Hardtanh:
      return clipped_to(x, p.lower, p.upper);
    case F::Hardsigmoid:
      return Real(clipped_to(Real(x + 3), 0.0, 6.0) / 6);
    case F::Hardswish:
      return Real(x * clipped_to(Real(x + 3), 0.0, 6.0) / 6);
    case F::Selu:
      return Real(Real(kSeluScale) * exponential_left(x, Real(kSeluAlpha), Real(1)));
    case F::Elu:
      return exponential_left(x, Real(p.alpha), Real(1));
    case F::Celu:
      return exponential_left(x, Real(p.alpha), Real(p.alpha));
    case F::Softsign:
      return Real(x / (1 + size));
    case F::Mish:
      return mish_of(x, decay());
    case F::LogSigmoid:
      return Real(x - positive - log1p(decay()));
    case F::Tanhshrink:
      return size > 1e6 ? Real(x > 0 ? x - 1 : x + 1) : Real(x - tanh(x));
  }
  throw std::logic_error("naive_activation: no such function");
}

template double naive_activation(const Activation& f, const double& x);
template long double naive_activation(const Activation& f, const long double& x);
template Precise naive_activation(const Activation& f, const Precise& x);

double naive_derivative(const Activation& f, double x) {
  const ActivationParameters& p = f.parameters();
  const double e = std::exp(-std::abs(x)), logistic = 1.0 / (1.0 + std::exp(-x));
  switch (f.function()) {
    case F::Identity:
      return 1.0;
    case F::Relu:
      return x >= 0.0 ? 1.0 : 0.0;
    case F::LeakyRelu:
      return x >= 0.0 ? 1.0 : p.slope;
    case F::Tanh:
      return std::pow(std::cosh(x), -2);
    case F::Sigmoid:
      return logistic / (1.0 + std::exp(x));
    case F::Erf:
      return 2.0 / std::sqrt(std::numbers::pi) * std::exp(-x * x);
    case F::Gelu: {
      if (std::isinf(x)) return x > 0.0 ? 1.0 : 0.0;
      return normal_distribution(x) + x * std::exp(-x * x / 2) / std::sqrt(2.0 * std::numbers::pi);
    }
    case F::Silu:
      return std::isinf(x) ? (x > 0.0 ? 1.0 : 0.0) : logistic + x * logistic / (1.0 + std::exp(x));
    case F::Softplus:
      return logistic;
    case F::Relu6:
      return x >= 0.0 && x < 6.0 ? 1.0 : 0.0;
    case F::Hardtanh:
      return x >= p.lower && x < p.upper ? 1.0 : 0.0;
    case F::Hardsigmoid:
      return x >= -3.0 && x < 3.0 ? 1.0 / 6.0 : 0.0;
    case F::Hardswish:
      return x >= 3.0 ? 1.0 : x < -3.0 ? 0.0 : x / 3.0 + 0.5;
    case F::Selu:
      return kSeluScale * (x >= 0.0 ? 1.0 : kSeluAlpha * e);
    case F::Elu:
      return x >= 0.0 ? 1.0 : p.alpha * e;
    case F::Celu:
      return x >= 0.0 ? 1.0 : std::exp(x / p.alpha);
    case F::Softsign:
      return std::pow(1.0 + std::abs(x), -2);
    case F::Mish: {
      if (std::abs(x) > 300.0) return x > 0.0 ? 1.0 : 0.0;
      const double t = std::tanh(x > 0.0 ? x + std::log1p(e) : std::log1p(e));
      return t + x * (1.0 - t * t) / (1.0 + std::exp(-x));
    }
    case F::LogSigmoid:
      return 1.0 / (1.0 + std::exp(x));
    case F::Tanhshrink:
      return std::tanh(x) * std::tanh(x);
  }
  throw std::logic_error("naive_derivative: no such function");
}

std::vector<SlopeJump> slope_jumps(const Activation& f) {
  const ActivationParameters& p = f.parameters();
  switch (f.function()) {
    case F::Relu6:
      return {{0.0, 0.0, 1.0}, {6.0, 1.0, 0.0}};
    case F::Hardtanh:
      return {{p.lower, 0.0, 1.0}, {p.upper, 1.0, 0.0}};
    case F::Hardsigmoid:
      return {{-3.0, 0.0, 1.0 / 6.0}, {3.0, 1.0 / 6.0, 0.0}};
    case F::Hardswish:
      return {{-3.0, 0.0, -0.5}, {3.0, 1.5, 1.0}};
    case F::Selu:
      return {{0.0, kSeluScale * kSeluAlpha, kSeluScale}};
    case F::Elu:
      return {{0.0, p.alpha, 1.0}};
    case F::Celu:
    case F::Softsign:
      return {{0.0, 1.0, 1.0}};
    default:
      return {};
  }
}

}  // namespace mixcert::testing
