// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Eigen's vectorised exp and log stand in for the C library's and are held to the same 16 units of roundoff
// (tested). The formulas, in the functions' records, are chosen for their absolute error: one exponential
// each, no case distinction.
#include "activation/node_values.h"

#include "activation/activation_traits.h"

namespace mixcert {

double node_error(double deviation) {
  return 1.01 * kUnitRoundoff * (112.0 + (8.0 + kFourthNorm * 64.0) * deviation);
}

void evaluate_nodes(const Activation& activation, double mean, double deviation, const NodeArray& nodes,
                    NodeValues& result) {
  const ActivationTraits& traits = activation.traits();
  const Smooth* smooth = traits.smooth();
  NodeArray& g = result.values;
  g = mean + deviation * nodes;
  result.line = mean > 0.0 && smooth != nullptr && !smooth->limits.get().is_bounded();
  if (result.line) {
    result.center = smooth->limits.get().rest(mean);
    smooth->limits.get().rest_at_nodes(g);
  } else {
    result.center = activation(mean);
    if (traits.values_at_nodes.get() != kOneByOne) {
      traits.values_at_nodes(g, activation.slope());
    } else {
      g = g.unaryExpr([&](double z) { return activation(z); });
    }
  }
  g -= result.center;
}

void evaluate_slopes(const Activation& activation, double mean, double deviation, const NodeArray& nodes,
                     NodeArray& slopes) {
  const ActivationTraits& traits = activation.traits();
  slopes = mean + deviation * nodes;
  if (traits.slopes_at_nodes.get() != kOneByOne) {
    traits.slopes_at_nodes(slopes, activation.slope());
  } else {
    slopes = slopes.unaryExpr([&](double z) { return activation.derivative(z); }).eval();
  }
}

}  // namespace mixcert
