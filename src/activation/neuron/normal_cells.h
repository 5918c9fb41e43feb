// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Cells of the line for upper sums (Y.24), with their masses under the normal law.
#pragma once

#include <vector>

namespace mixcert {

inline constexpr double kLastNode = 8.0;
/// No less than the integral of (x - 7)^8 phi over x > 8.
inline constexpr double kBeyondLast = 3e-15;

/// An end of cells, and the cell to its right.
struct CellNode {
  double x;
  double mass, second;  ///< of the normal law over the cell: no less than E 1, E x^2
};

/// From -kLastNode to kLastNode.
const std::vector<CellNode>& cell_nodes();

}  // namespace mixcert
