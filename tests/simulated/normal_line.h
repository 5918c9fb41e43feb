// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mixtures of normals on the line, atoms among them, and how far two of them are from each other.
#pragma once

#include <array>
#include <vector>

namespace mixcert::testing {

/// A law on the line: weights, means, deviations of normals; a deviation of zero is an atom.
struct Line {
  std::vector<std::array<double, 3>> parts;

  [[nodiscard]] double below(double x) const;
  [[nodiscard]] double quantile(double level) const;
};

/// W2 from quantiles in the middle of so many cells.
double line_distance(const Line& a, const Line& b, int levels);

}  // namespace mixcert::testing
