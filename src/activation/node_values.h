// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Values of smooth activations at many nodes, less their value at the mean, (V.6).
#pragma once

#include "activation/quadrature_rules.h"
#include "mixcert/activation/activation.h"

namespace mixcert {

/// z = m + s x is split as f(z) = [line] z + g(z). The line is taken off where m > 0 and f follows it (gelu,
/// silu, softplus, elu): g then stays bounded near m, and large means cost no accuracy.
struct NodeValues {
  bool line = false;
  double center = 0.0;  ///< the computed g(m); in what follows an exact number
  NodeArray values;     ///< g(m + s x) - center, node by node
};

/// No less than (E x^4)^{1/4}.
inline constexpr double kFourthNorm = 1.3161;

/// e_4 of (V.6): the error of a value at a node x is at most u (112 + s (8 + 64 |x|)); this is its fourth
/// norm over the nodes, and its root mean square is no larger. One per cent covers that nodes stand for x.
double node_error(double deviation);

/// Errors are those of (V.6) for smooth functions.
void evaluate_nodes(const Activation& activation, double mean, double deviation, const NodeArray& nodes,
                    NodeValues& result);

/// f'(m + s x) at every node, to 64 units of roundoff.
void evaluate_slopes(const Activation& activation, double mean, double deviation, const NodeArray& nodes,
                     NodeArray& slopes);

}  // namespace mixcert
