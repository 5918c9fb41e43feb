// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/two_layers.md (Y.24): cells are wider where little mass is.
#include "activation/neuron/normal_cells.h"

#include <algorithm>

#include "core/normal.h"

namespace mixcert {
namespace {

/// Of the cell that begins at x.
double cell_width(double x) {
  const double distance = x < 0.0 ? -x : x + 0.01;
  return distance <= 3.0 ? 0.0625 : distance <= 5.0 ? 0.125 : 0.5;
}

}  // namespace

const std::vector<CellNode>& cell_nodes() {
  static const std::vector<CellNode> nodes = [] {
    std::vector<CellNode> made;
    for (double a = -kLastNode; a <= kLastNode; a += cell_width(a)) {
      const double b = a + cell_width(a);
      const double mass = enlarged(normal_mass(a, b));
      // The integral of x^2 phi; both terms of the difference are good to 1e-15.
      const double second = mass + (a * normal_density(a) - b * normal_density(b)) + 1e-14;
      made.push_back({a, mass, std::min(enlarged(second), mass * std::max(a * a, b * b))});
    }
    return made;
  }();
  return nodes;
}

}  // namespace mixcert
