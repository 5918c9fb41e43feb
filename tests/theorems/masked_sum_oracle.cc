// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "theorems/masked_sum_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace mixcert::testing {
namespace {

using Real = long double;

Real normal_below(Real z) { return 0.5L * std::erfc(-z / std::numbers::sqrt2_v<Real>); }
Real normal_bell(Real z) {
  return std::exp(-0.5L * z * z) * std::numbers::inv_sqrtpi_v<Real> / std::numbers::sqrt2_v<Real>;
}

/// E[(center - x)^2; from < x <= to] of N(mean, deviation^2), in units of its deviation around its mean.
Real square_between(Real center, Real from, Real to) {
  const auto primitive = [&](Real z) {
    if (std::isinf(z)) return z > 0 ? 1 + center * center : Real{0};
    return (1 + center * center) * normal_below(z) + (2 * center - z) * normal_bell(z);
  };
  return primitive(to) - primitive(from);
}

}  // namespace

Atoms enumerated_sum(const std::vector<Real>& contributions, Real rate, Real shift) {
  std::vector<std::pair<Real, Real>> atoms = {{shift, 1.0L}};
  for (const Real contribution : contributions) {
    const std::size_t size = atoms.size();
    for (std::size_t i = 0; i < size; ++i) {
      const auto [point, mass] = atoms[i];
      atoms.emplace_back(point + contribution / (1 - rate), mass * (1 - rate));
      atoms[i].second = mass * rate;
    }
  }
  std::sort(atoms.begin(), atoms.end());
  Atoms sorted;
  for (const auto& [point, mass] : atoms) {
    sorted.points.push_back(point);
    sorted.masses.push_back(mass);
  }
  return sorted;
}

Real LineLaw::below(Real x) const {
  Real sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const Real distance = x - means[k];
    sum += weights[k] * (deviations[k] > 0 ? normal_below(distance / deviations[k]) : Real(distance >= 0));
  }
  return sum;
}

Real LineLaw::density(Real x) const {
  Real sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k)
    sum += weights[k] * normal_bell((x - means[k]) / deviations[k]) / deviations[k];
  return sum;
}

Real LineLaw::quantile(Real p) const {
  Real low = INFINITY, high = -INFINITY;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    low = std::min(low, means[k] - 40 * deviations[k]);
    high = std::max(high, means[k] + 40 * deviations[k]);
  }
  // Newton's steps where they stay between the ends, and bisection; a step may be short where a component is
  // narrow, so that only the level says when it is done.
  Real at = 0.5L * (low + high);
  for (int step = 0; step < 300; ++step) {
    const Real missing = p - below(at);
    if (std::abs(missing) <= 4 * std::numeric_limits<Real>::epsilon()) break;
    (missing > 0 ? low : high) = at;
    const Real next = at + missing / density(at);
    const bool is_inside = step % 4 != 3 && next > low && next < high;
    at = is_inside ? next : 0.5L * (low + high);
  }
  return at;
}

Real exact_distance(const Atoms& atoms, const LineLaw& law) {
  const auto positive = [](Real deviation) { return deviation > 0; };
  Real sum = 0, level = 0;
  if (!std::all_of(law.deviations.begin(), law.deviations.end(), positive)) {
    // A single point.
    for (std::size_t k = 0; k < atoms.points.size(); ++k)
      sum += atoms.masses[k] * std::pow(atoms.points[k] - law.means[0], 2);
    return std::sqrt(sum);
  }
  Real from = -INFINITY;
  for (std::size_t k = 0; k < atoms.points.size(); ++k) {
    level += atoms.masses[k];
    const Real to = k + 1 == atoms.points.size() ? Real(INFINITY) : law.quantile(level);
    for (std::size_t i = 0; i < law.weights.size(); ++i) {
      const Real mean = law.means[i], deviation = law.deviations[i];
      sum += law.weights[i] * deviation * deviation *
             square_between((atoms.points[k] - mean) / deviation, (from - mean) / deviation,
                            (to - mean) / deviation);
    }
    from = to;
  }
  return std::sqrt(std::max(sum, Real{0}));
}

Real quantile_distance(const LineLaw& one, const LineLaw& other, int count) {
  Real sum = 0;
  for (int i = 0; i < count; ++i) {
    const Real p = (static_cast<Real>(i) + 0.5L) / static_cast<Real>(count);
    sum += std::pow(one.quantile(p) - other.quantile(p), 2);
  }
  return std::sqrt(sum / static_cast<Real>(count));
}

}  // namespace mixcert::testing
