// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Eigen's vectorised exp and log stand in for the C library's and are held to the same 16 units of roundoff
// (tested). The formulas are chosen for their absolute error: one exponential each, no case distinction.
#include "activation/node_values.h"

#include <cmath>

namespace mixcert {
namespace {

using F = ActivationFunction;

bool follows_a_line(F function) {
  return function == F::Gelu || function == F::Silu || function == F::Softplus || function == F::Elu;
}

/// e^z - 1 - z for z < 0, else 0.
double elu_less_line(double z) { return z < 0.0 ? std::expm1(z) - z : 0.0; }

}  // namespace

double node_error(double deviation) {
  return 1.01 * kUnitRoundoff * (112.0 + (8.0 + kFourthNorm * 64.0) * deviation);
}

void evaluate_nodes(const Activation& activation, double mean, double deviation, const NodeArray& nodes,
                    NodeValues& result) {
  const F function = activation.function();
  NodeArray& g = result.values;
  result.line = mean > 0.0 && follows_a_line(function);
  if (function == F::Elu) {
    const bool line = result.line;
    result.center = line ? 0.0 : activation(mean);
    const double center = result.center;
    g = (mean + deviation * nodes).unaryExpr([&](double z) {
      return line ? elu_less_line(z) : activation(z) - center;
    });
    return;
  }
  // gelu, silu and softplus: f(z) - z = f(-z).
  const double sign = result.line ? -1.0 : 1.0;
  result.center = activation(sign * mean);
  g = sign * mean + (sign * deviation) * nodes;
  switch (function) {
    case F::Tanh:
      g = 1.0 - 2.0 / (1.0 + (2.0 * g).exp());
      break;
    case F::Sigmoid:
      g = 1.0 / (1.0 + (-g).exp());
      break;
    case F::Silu:
      // Below -800 the function is 0; Eigen's exponential ends at e^709.
      g = g.max(-800.0) / (1.0 + (-g).exp());
      break;
    case F::Softplus:
      g = g.max(0.0) + (1.0 + (-g.abs()).exp()).log();
      break;
    default:
      g = g.unaryExpr([&](double z) { return activation(z); });
      break;
  }
  g -= result.center;
}

void evaluate_slopes(const Activation& activation, double mean, double deviation, const NodeArray& nodes,
                     NodeArray& slopes) {
  slopes = mean + deviation * nodes;
  switch (activation.function()) {
    case F::Tanh:  // 4 e / (1 + e)^2, e = exp(-2|z|)
      slopes = (-2.0 * slopes.abs()).exp();
      slopes = 4.0 * slopes / (1.0 + slopes).square();
      break;
    case F::Sigmoid:  // e / (1 + e)^2, e = exp(-|z|)
      slopes = (-slopes.abs()).exp();
      slopes = slopes / (1.0 + slopes).square();
      break;
    case F::Softplus:  // 1 / (1 + exp(-z))
      slopes = 1.0 / (1.0 + (-slopes.max(-700.0)).exp());
      break;
    default:
      slopes = slopes.unaryExpr([&](double z) { return activation.derivative(z); }).eval();
      break;
  }
}

}  // namespace mixcert
