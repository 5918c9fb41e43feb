// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Every bound is a bell-shaped function at the point of the interval nearest to zero times a polynomial at
// the farthest one, docs/theory/stein.md (Y.11).
#include "certify/activation_bends.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/normal.h"

namespace mixcert {
namespace {

using F = ActivationFunction;

/// Derivative of the logistic function.
double logistic_bell(double x) {
  const double e = std::exp(-std::min(700.0, std::abs(x)));
  return e / ((1.0 + e) * (1.0 + e));
}

Bends smooth_bends(F function, double nearest, double farthest, double steepest) {
  switch (function) {
    case F::Tanh: {  // f'' = -2 f f', f''' = f' (6 f^2 - 2)
      const double bell = nearest > 0.0 ? steepest : 1.0;
      return {std::min(0.77, 2.0 * bell), std::min(2.0, 4.0 * bell)};
    }
    case F::Sigmoid: {  // |f''|, |f'''| <= f'
      const double bell = nearest > 0.0 ? steepest : 0.25;
      return {std::min(0.0963, bell), std::min(0.126, bell)};
    }
    case F::Erf: {  // f'' = -2 x f', f''' = (4 x^2 - 2) f'
      const double bell = nearest > 0.0 ? steepest : 1.1284;
      return {std::min(0.97, 2.0 * farthest * bell), std::max(2.0, 4.0 * farthest * farthest) * bell};
    }
    case F::Gelu: {  // f'' = (2 - x^2) phi, f''' = (x^3 - 4 x) phi
      const double bell = normal_density(nearest), square = farthest * farthest;
      return {std::min(0.8, std::max(2.0, square) * bell),
              std::min(0.8, farthest * std::max(4.0, square) * bell)};
    }
    case F::Silu: {  // with g the logistic function, f'' = 2 g' + x g'', f''' = 3 g'' + x g'''
      const double bell = logistic_bell(nearest);
      return {std::min(0.5001, (2.0 + farthest) * bell), (3.0 + farthest) * bell};
    }
    default: {  // Softplus: f'' = g', |f'''| <= g'
      const double bell = logistic_bell(nearest);
      return {bell, std::min(0.0963, bell)};
    }
  }
}

}  // namespace

double second_derivative(F function, double z, double value, double slope) {
  switch (function) {
    case F::Tanh:
      return -2.0 * value * slope;
    case F::Sigmoid:
      return slope * (1.0 - 2.0 * value);
    case F::Erf:
      return -2.0 * z * slope;
    case F::Gelu:
      return (2.0 - z * z) * normal_density(z);
    case F::Silu:
      return logistic_bell(z) * (2.0 - z * std::tanh(0.5 * z));
    case F::Softplus:
      return logistic_bell(z);
    case F::Elu:
      return slope;
    default:
      return 0.0;
  }
}

Bends bends_between(F function, double z0, double z1, double slope0, double slope1) {
  const double steepest = std::max(std::abs(slope0), std::abs(slope1)) * kSafety;
  switch (function) {
    case F::Identity:
    case F::Relu:
    case F::LeakyRelu:
      return {};
    case F::Elu:  // f'' = f''' = f' on the left
      return z0 + z1 < 0.0 ? Bends{steepest, steepest} : Bends{};
    default:
      break;
  }
  const double nearest = z0 * z1 > 0.0 ? std::min(std::abs(z0), std::abs(z1)) : 0.0;
  const Bends bends = smooth_bends(function, nearest, std::max(std::abs(z0), std::abs(z1)), steepest);
  return {bends.second * kSafety, bends.third * kSafety};
}

}  // namespace mixcert
