// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the coupling by the same weights costs when the input moves, by draws.
#pragma once

#include <cmath>

#include "mixcert/core/rng.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert::testing {

inline Vector random_signs(Generator& generator, Index size) {
  return Vector::NullaryExpr(size, [&] { return uniform(generator) < 0.5 ? -1.0 : 1.0; });
}

/// The root mean square change of the outputs when the same weights see another input.
inline double coupled_change(const Network& network, const Vector& input, const Vector& change) {
  Matrix both(input.size(), 2);
  both << input, input + change;
  SimulationOptions options;
  options.samples = 4000;
  options.threads = 1;
  const Matrix outputs = simulate_joint(network, both, options);
  const Index n = network.outputs();
  return std::sqrt((outputs.topRows(n) - outputs.bottomRows(n)).colwise().squaredNorm().mean());
}

}  // namespace mixcert::testing
