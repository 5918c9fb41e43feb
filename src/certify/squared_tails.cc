// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.11): integrals from the ends of panels are made once; what is left is part of one
// panel, by five Gauss-Legendre nodes. All terms are positive, so relative errors stay what they are.
#include "certify/squared_tails.h"

#include <cmath>
#include <vector>

#include "certify/five_nodes.h"
#include "mixcert/core/normal.h"

namespace mixcert {
namespace {

constexpr double kPanel = 0.125;
// Of the rule on at most one panel, per unit of the integrand at the left end of the ellipse r = 24, which is
// this many half-widths away from the panel.
constexpr double kPanelError = 1.2e-14;
constexpr double kEllipseReach = 11.03;
// Of nodes, tails, densities and sums.
constexpr double kTailRounding = 2e-12;
// More than what lies beyond the last panel.
constexpr double kBeyond = 1e-80;
constexpr double kBinomials[kTailPowers][kTailPowers] = {
    {1, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {1, 2, 1, 0, 0}, {1, 3, 3, 1, 0}, {1, 4, 6, 4, 1}};

/// P(Z > x)^2/phi(x), which falls.
double squared_tail(double x) {
  const double tail = normal_tail(x);
  return tail * tail / normal_density(x);
}

/// Integrals from k from those from k + width.
SquaredTails extended(const SquaredTails& from_end, double k, double width) {
  SquaredTails sums;
  std::array<double, kTailPowers> shift{1.0};
  for (std::size_t n = 1; n < shift.size(); ++n) shift[n] = shift[n - 1] * width;
  const double missed = kPanelError * squared_tail(k - 0.5 * kEllipseReach * width);
  for (std::size_t n = 0; n < shift.size(); ++n) {
    sums.error[n] = missed;
    for (std::size_t i = 0; i <= n; ++i) {
      const double factor = kBinomials[n][i] * shift[n - i];
      sums.value[n] += factor * from_end.value[i];
      sums.error[n] += factor * from_end.error[i];
    }
  }
  for (std::size_t q = 0; q < kFiveNodes.size(); ++q) {
    const double step = kFiveNodes[q] * width;
    double term = kFiveWeights[q] * width * squared_tail(k + step);
    for (double& value : sums.value) {
      value += term;
      term *= step;
    }
  }
  return sums;
}

/// From the left ends of all panels, and from the end of the last one.
std::vector<SquaredTails> from_panel_ends() {
  const auto count = static_cast<std::size_t>(2.0 * kFarthestKink / kPanel);
  std::vector<SquaredTails> ends(count + 1);
  ends.back().error.fill(kBeyond);
  for (std::size_t i = count; i-- > 0;) {
    ends[i] = extended(ends[i + 1], kPanel * static_cast<double>(i) - kFarthestKink, kPanel);
  }
  return ends;
}

}  // namespace

SquaredTails squared_tails(double k) {
  static const std::vector<SquaredTails> ends = from_panel_ends();
  const double place = std::ceil((k + kFarthestKink) / kPanel);
  const double end = kPanel * place - kFarthestKink;
  SquaredTails sums = extended(ends[static_cast<std::size_t>(place)], k, end - k);
  for (std::size_t n = 0; n < sums.value.size(); ++n) {
    sums.error[n] = (sums.error[n] + kTailRounding * sums.value[n]) * kSafety;
  }
  return sums;
}

}  // namespace mixcert
