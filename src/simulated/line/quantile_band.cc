// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/line/quantile_band.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/sample_limits.h"

namespace mixcert {
namespace {

/// Indices 1 .. n, a standard error of a count apart: closer ones would say the same.
std::vector<Index> chosen_indices(Index draws) {
  std::vector<Index> indices;
  const auto n = static_cast<double>(draws);
  for (Index k = 1; k <= draws;) {
    indices.push_back(k);
    const auto at = static_cast<double>(k);
    k += std::max<Index>(1, static_cast<Index>(std::sqrt(at * (1.0 - at / n))));
  }
  if (indices.back() != draws) indices.push_back(draws);
  return indices;
}

}  // namespace

QuantileBand::QuantileBand(const OutputDraws& draws, double failure) {
  const std::vector<Index> indices = chosen_indices(draws.count());
  const double each = failure / (2.0 * static_cast<double>(indices.size())) * (1.0 - 1e-12);
  for (const Index k : indices) {
    // P(U_(k) > u) = P(fewer than k of n uniforms below u), P(U_(k) < l) = P(k or more of them below l).
    rises_.push_back({largest_probability(k - 1, draws.count(), each), draws.lower(k - 1)});
    ends_.push_back({smallest_probability(k, draws.count(), each), draws.upper(k - 1)});
  }
  // Levels increase with k; a search that stopped a little early may not disturb their order.
  for (std::size_t j = 1; j < rises_.size(); ++j)
    rises_[j].level = std::max(rises_[j].level, rises_[j - 1].level);
  for (std::size_t j = ends_.size() - 1; j > 0; --j)
    ends_[j - 1].level = std::min(ends_[j - 1].level, ends_[j].level);
}

QuantileBand::QuantileBand(const LineLaw& law) {
  for (const double x : law.nodes()) {
    const double level = law.cdf(x);
    rises_.push_back({level + 2.0 * kLineCdfError, x});
    ends_.push_back({level - 2.0 * kLineCdfError, x});
  }
}

double QuantileBand::lower(double t) const {
  const auto after = std::upper_bound(rises_.begin(), rises_.end(), t,
                                      [](double level, const Step& step) { return level < step.level; });
  return after == rises_.begin() ? -std::numeric_limits<double>::infinity() : std::prev(after)->value;
}

double QuantileBand::upper(double t) const {
  const auto at = std::lower_bound(ends_.begin(), ends_.end(), t,
                                   [](const Step& step, double level) { return step.level < level; });
  return at == ends_.end() ? std::numeric_limits<double>::infinity() : at->value;
}

}  // namespace mixcert
