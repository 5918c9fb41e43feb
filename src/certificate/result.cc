// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Names of terminations, and the cubic of a computed law.
#include "mixcert/certificate/result.h"

#include <algorithm>
#include <cmath>

namespace mixcert {

namespace {

/// The cell of y, and its place in it: 0 <= t <= 1.
struct CellPlace {
  Index cell;
  double t;
};
CellPlace place_of(const OutputDistribution& law, double y) {
  const double along = (y - law.first) / law.cell;
  const Index cells = law.values.size() - 1;
  const Index cell = std::clamp<Index>(
      static_cast<Index>(std::floor(std::clamp(along, 0.0, static_cast<double>(cells)))), 0, cells - 1);
  return {cell, std::clamp(along - static_cast<double>(cell), 0.0, 1.0)};
}

}  // namespace

double OutputDistribution::cdf(double y) const {
  const auto [i, t] = place_of(*this, y);
  const double r = 1.0 - t;
  return r * r * ((1.0 + 2.0 * t) * values(i) + t * cell * density(i)) +
         t * t * ((1.0 + 2.0 * r) * values(i + 1) - r * cell * density(i + 1));
}

double OutputDistribution::slope(double y) const {
  if (!(y >= first && y <= last())) return 0.0;
  const auto [i, t] = place_of(*this, y);
  const double r = 1.0 - t;
  return 6.0 * r * t * (values(i + 1) - values(i)) / cell + r * (1.0 - 3.0 * t) * density(i) +
         t * (1.0 - 3.0 * r) * density(i + 1);
}

std::string_view to_string(Termination termination) {
  switch (termination) {
    case Termination::Completed:
      return "completed";
    case Termination::EpsilonReached:
      return "epsilon-reached";
    case Termination::BudgetSpent:
      return "budget-spent";
  }
  return "?";
}

}  // namespace mixcert
