// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Probabilities of cells.
#include "report/pages/density_grid.h"

#include <algorithm>
#include <cmath>

#include "core/normal.h"

namespace mixcert::page {
namespace {

constexpr int kRows = 72;

double below(const ScalarMixture& law, double y) {
  double probability = 0.0;
  for (std::size_t k = 0; k < law.weights.size(); ++k) {
    const double sd = law.deviations[k];
    const double share = sd > 0.0 ? normal_cdf((y - law.means[k]) / sd) : (law.means[k] < y ? 1.0 : 0.0);
    probability += law.weights[k] * share;
  }
  return probability;
}

/// Mean and standard deviation of the whole mixture.
std::pair<double, double> moments(const ScalarMixture& law) {
  double mean = 0.0, square = 0.0;
  for (std::size_t k = 0; k < law.weights.size(); ++k) mean += law.weights[k] * law.means[k];
  for (std::size_t k = 0; k < law.weights.size(); ++k) {
    const double offset = law.means[k] - mean;
    square += law.weights[k] * (law.deviations[k] * law.deviations[k] + offset * offset);
  }
  return {mean, std::sqrt(square)};
}

std::vector<double> cell_values(const ScalarMixture& law, double low, double high) {
  std::vector<double> values;
  double before = below(law, low), largest = 0.0;
  for (int i = 1; i <= kRows; ++i) {
    const double now = below(law, low + (high - low) * i / kRows);
    values.push_back(std::max(0.0, now - before));
    largest = std::max(largest, values.back());
    before = now;
  }
  for (double& value : values) value = largest > 0.0 ? value / largest : 0.0;
  return values;
}

}  // namespace

bool has_density(const std::vector<ScalarMixture>& sorted) {
  double largest = 0.0;
  for (const ScalarMixture& law : sorted) largest = std::max(largest, moments(law).second);
  return largest > 0.0 && std::isfinite(largest) && sorted.front().x < sorted.back().x;
}

DensityGrid density_grid(const std::vector<ScalarMixture>& sorted) {
  DensityGrid grid;
  grid.low = std::numeric_limits<double>::infinity();
  grid.high = -grid.low;
  for (const ScalarMixture& law : sorted) {
    const auto [mean, sd] = moments(law);
    grid.low = std::min(grid.low, mean - 3.0 * sd);
    grid.high = std::max(grid.high, mean + 3.0 * sd);
  }
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double x = sorted[i].x;
    const double before = i > 0 ? sorted[i - 1].x : 2.0 * x - sorted[i + 1].x;
    const double after = i + 1 < sorted.size() ? sorted[i + 1].x : 2.0 * x - sorted[i - 1].x;
    grid.columns.push_back(
        {0.5 * (before + x), 0.5 * (x + after), cell_values(sorted[i], grid.low, grid.high)});
  }
  return grid;
}

}  // namespace mixcert::page
