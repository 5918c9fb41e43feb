// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Textbook formulas of the activations from relu6 on, for every type of numbers that oracles use, and their
// kinks.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "mixcert/activation/activation.h"

namespace mixcert::testing {

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

template <class Real>
Real further_activation(const Activation& f, const Real& x) {
  using std::abs, std::exp, std::log1p, std::tanh;
  using F = ActivationFunction;
  const Real alpha(f.parameters().alpha);
  const Real size = abs(x);
  // e^-1e6 is 1e-434294: no scale of a double brings it back.
  const Real decay = size > 1e6 ? Real(0) : Real(exp(Real(-size)));
  switch (f.function()) {
    case F::Relu6:
      return clipped_to(x, 0.0, 6.0);
    case F::Hardtanh:
      return clipped_to(x, f.parameters().lower, f.parameters().upper);
    case F::Hardsigmoid:
      return Real(clipped_to(Real(x + 3), 0.0, 6.0) / 6);
    case F::Hardswish:
      return Real(x * clipped_to(Real(x + 3), 0.0, 6.0) / 6);
    case F::Selu: {
      const Real scale(1.0507009873554804934), of_left(1.6732632423543772848);
      return Real(scale * exponential_left(x, of_left, Real(1)));
    }
    case F::Elu:
      return exponential_left(x, alpha, Real(1));
    case F::Celu:
      return exponential_left(x, alpha, alpha);
    case F::Softsign:
      return Real(x / (1 + size));
    case F::Mish: {
      // tanh(log q) = (q^2 - 1)/(q^2 + 1), q = 1 + e^x
      const Real one = x > 0 ? Real(1 + 2 * decay) : Real(decay * (decay + 2));
      const Real two = x > 0 ? Real(2 * decay * decay) : Real(2);
      return Real(x * one / (one + two));
    }
    case F::LogSigmoid: {
      const Real rest = log1p(decay);
      return x > 0 ? Real(-rest) : Real(x - rest);
    }
    case F::Tanhshrink:
      return size > 1e6 ? (x > 0 ? Real(x - 1) : Real(x + 1)) : Real(x - tanh(x));
    default:
      throw std::logic_error("further_activation: none of these functions");
  }
}

/// A kink, and the slopes beside it.
struct SlopeJump {
  double at, left, right;
};

inline std::vector<SlopeJump> slope_jumps(const Activation& f) {
  using F = ActivationFunction;
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
      return {{0.0, 1.7580993408473766, 1.0507009873554805}};
    case F::Elu:
      return {{0.0, p.alpha, 1.0}};
    case F::Celu:
    case F::Softsign:
      return {{0.0, 1.0, 1.0}};
    default:
      return {};
  }
}

/// Right derivative.
inline double further_derivative(const Activation& f, double x) {
  using F = ActivationFunction;
  const ActivationParameters& p = f.parameters();
  const double e = std::exp(-std::abs(x));
  switch (f.function()) {
    case F::Relu6:
      return x >= 0.0 && x < 6.0 ? 1.0 : 0.0;
    case F::Hardtanh:
      return x >= p.lower && x < p.upper ? 1.0 : 0.0;
    case F::Hardsigmoid:
      return x >= -3.0 && x < 3.0 ? 1.0 / 6.0 : 0.0;
    case F::Hardswish:
      return x >= 3.0 ? 1.0 : x < -3.0 ? 0.0 : x / 3.0 + 0.5;
    case F::Selu:
      return x >= 0.0 ? 1.0507009873554805 : 1.7580993408473766 * e;
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
    default:
      throw std::logic_error("further_derivative: none of these functions");
  }
}

}  // namespace mixcert::testing
