// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Exact grid sizes by dynamic programming (G.1). With budget B the state after some axes is
// the number of points left per grid cell, which is one of the O(sqrt B) quotients
// floor(B/m); an axis that leaves r of R points should take floor(R / r') points, r' the
// next quotient, so O(sqrt R) choices per state suffice.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "mixcert/core/error.h"
#include "quantize/signature.h"

namespace mixcert {
namespace {

/// All values of floor(budget / m), increasing, with a constant-time inverse.
class Quotients {
 public:
  explicit Quotients(Index budget) : budget_(budget) {
    for (Index m = 1; m <= budget; m = budget / (budget / m) + 1) values_.push_back(budget / m);
    std::reverse(values_.begin(), values_.end());
    small_.resize(static_cast<std::size_t>(isqrt()) + 1);
    large_.resize(static_cast<std::size_t>(isqrt()) + 2);
    for (std::size_t i = 0; i < values_.size(); ++i) slot(values_[i]) = i;
  }
  [[nodiscard]] const std::vector<Index>& values() const { return values_; }
  [[nodiscard]] std::size_t index_of(Index quotient) const {
    return quotient <= isqrt() ? small_[static_cast<std::size_t>(quotient)]
                               : large_[static_cast<std::size_t>(budget_ / quotient)];
  }

 private:
  [[nodiscard]] Index isqrt() const { return static_cast<Index>(std::sqrt(static_cast<double>(budget_))); }
  std::size_t& slot(Index quotient) {
    return quotient <= isqrt() ? small_[static_cast<std::size_t>(quotient)]
                               : large_[static_cast<std::size_t>(budget_ / quotient)];
  }

  Index budget_;
  std::vector<Index> values_;
  std::vector<std::size_t> small_;
  std::vector<std::size_t> large_;
};

/// cost[s], choice[s]: the best for the axes from some axis on with values()[s] points left.
struct Stage {
  std::vector<double> cost;
  std::vector<Index> choice;
};

/// `cost_of`: of this axis, at each quotient (and no more than the largest quantizer).
Stage solve_stage(const std::vector<double>& cost_of, const Quotients& quotients,
                  const std::vector<double>& later_cost) {
  const auto& values = quotients.values();
  Stage stage{std::vector<double>(values.size()), std::vector<Index>(values.size(), 1)};
  for (std::size_t s = 0; s < values.size(); ++s) {
    const Index left = values[s];
    stage.cost[s] = cost_of[0] + later_cost[s];
    // n runs over the largest sizes that leave each possible quotient.
    for (Index n = 2; n <= left;) {
      const Index rest = left / n;
      const Index largest = left / rest;
      const Index size = std::min(largest, kMaxQuantizerSize);
      const double cost = cost_of[quotients.index_of(largest)] + later_cost[quotients.index_of(left / size)];
      if (cost < stage.cost[s]) {
        stage.cost[s] = cost;
        stage.choice[s] = size;
      }
      if (size == kMaxQuantizerSize) break;
      n = largest + 1;
    }
  }
  return stage;
}

}  // namespace

Index max_active_axes(Index point_budget) {
  Index axes = 0;
  for (Index product = 2; product <= point_budget; product *= 2) ++axes;
  return axes;
}

std::vector<Index> optimal_grid_sizes(Index axis_count, Index point_budget, const AxisCost& cost) {
  require(point_budget >= 1 && point_budget <= kMaxGridSize,
          "grid sizes: the budget must be in 1.." + std::to_string(kMaxGridSize));
  const Quotients quotients(point_budget);
  const auto axes = static_cast<std::size_t>(axis_count);
  std::vector<Stage> stages(axes);
  std::vector<double> later(quotients.values().size(), 0.0);
  std::vector<double> cost_of(later.size());
  for (std::size_t axis = axes; axis-- > 0;) {
    std::transform(quotients.values().begin(), quotients.values().end(), cost_of.begin(),
                   [&](Index n) { return cost(static_cast<Index>(axis), std::min(n, kMaxQuantizerSize)); });
    stages[axis] = solve_stage(cost_of, quotients, later);
    later = stages[axis].cost;
  }
  std::vector<Index> sizes;
  Index left = point_budget;
  for (const Stage& stage : stages) {
    sizes.push_back(stage.choice[quotients.index_of(left)]);
    left /= sizes.back();
  }
  return sizes;
}

std::vector<Index> optimal_grid_sizes(ConstVectorRef eigenvalues, Index point_budget,
                                      const DistortionTable& distortion) {
  require(eigenvalues.size() == 0 || eigenvalues.minCoeff() >= 0.0,
          "grid sizes: eigenvalues must be nonnegative");
  std::vector<Index> sizes(static_cast<std::size_t>(eigenvalues.size()), 1);
  std::vector<Index> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return eigenvalues(a) > eigenvalues(b); });
  const Index axes = std::min(eigenvalues.size(), max_active_axes(point_budget));
  std::vector<Index> chosen = optimal_grid_sizes(axes, point_budget, [&](Index axis, Index size) {
    return eigenvalues(order[static_cast<std::size_t>(axis)]) * distortion(size);
  });
  // Larger sizes to larger eigenvalues never cost more, and settle ties between equal ones.
  std::sort(chosen.begin(), chosen.end(), std::greater<>());
  for (std::size_t axis = 0; axis < chosen.size(); ++axis)
    sizes[static_cast<std::size_t>(order[axis])] = chosen[axis];
  return sizes;
}

}  // namespace mixcert
