// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "theorems/masked_sum_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace mixcert::testing {
namespace {

template <class Real>
Real normal_below(Real z) {
  return std::erfc(-z / std::numbers::sqrt2_v<Real>) / 2;
}
template <class Real>
Real normal_bell(Real z) {
  return std::exp(-z * z / 2) * std::numbers::inv_sqrtpi_v<Real> / std::numbers::sqrt2_v<Real>;
}

using Long = long double;

/// E[(center - x)^2; from < x <= to] of N(mean, deviation^2), in units of its deviation around its mean.
Long square_between(Long center, Long from, Long to) {
  const auto primitive = [&](Long z) {
    if (std::isinf(z)) return z > 0 ? 1 + center * center : Long{0};
    return (1 + center * center) * normal_below(z) + (2 * center - z) * normal_bell(z);
  };
  return primitive(to) - primitive(from);
}

}  // namespace

Atoms enumerated_sum(const std::vector<Long>& contributions, Long rate, Long shift) {
  std::vector<std::pair<Long, Long>> atoms = {{shift, 1.0L}};
  for (const Long contribution : contributions) {
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

template <class Real>
Real LineLawOf<Real>::below(Real x) const {
  Real sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const Real distance = x - means[k];
    sum += weights[k] * (deviations[k] > 0 ? normal_below(distance / deviations[k]) : Real(distance >= 0));
  }
  return sum;
}

template <class Real>
Real LineLawOf<Real>::density(Real x) const {
  Real sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k)
    sum += weights[k] * normal_bell((x - means[k]) / deviations[k]) / deviations[k];
  return sum;
}

template <class Real>
Real LineLawOf<Real>::quantile(Real p) const {
  Real low = INFINITY, high = -INFINITY;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    low = std::min(low, means[k] - 40 * deviations[k]);
    high = std::max(high, means[k] + 40 * deviations[k]);
  }
  // Newton's steps where they stay between the ends, and bisection; a step may be short where a component is
  // narrow, so that only the level says when it is done.
  Real at = (low + high) / 2;
  for (int step = 0; step < 300; ++step) {
    const Real missing = p - below(at);
    if (std::abs(missing) <= 4 * std::numeric_limits<Real>::epsilon()) break;
    (missing > 0 ? low : high) = at;
    const Real next = at + missing / density(at);
    const bool is_inside = step % 4 != 3 && next > low && next < high;
    at = is_inside ? next : (low + high) / 2;
  }
  return at;
}

template <class Real>
Real LineLawOf<Real>::deviation() const {
  Real mean = 0, square = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) mean += weights[k] * means[k];
  for (std::size_t k = 0; k < weights.size(); ++k)
    square += weights[k] * (std::pow(means[k] - mean, 2) + deviations[k] * deviations[k]);
  return std::sqrt(square);
}

template struct LineLawOf<double>;
template struct LineLawOf<long double>;

Long exact_distance(const Atoms& atoms, const LineLaw& law) {
  const auto positive = [](Long deviation) { return deviation > 0; };
  Long sum = 0, level = 0;
  if (!std::all_of(law.deviations.begin(), law.deviations.end(), positive)) {
    // A single point.
    for (std::size_t k = 0; k < atoms.points.size(); ++k)
      sum += atoms.masses[k] * std::pow(atoms.points[k] - law.means[0], 2);
    return std::sqrt(sum);
  }
  Long from = -INFINITY;
  for (std::size_t k = 0; k < atoms.points.size(); ++k) {
    level += atoms.masses[k];
    const Long to = k + 1 == atoms.points.size() ? Long(INFINITY) : law.quantile(level);
    for (std::size_t i = 0; i < law.weights.size(); ++i) {
      const Long mean = law.means[i], deviation = law.deviations[i];
      sum += law.weights[i] * deviation * deviation *
             square_between((atoms.points[k] - mean) / deviation, (from - mean) / deviation,
                            (to - mean) / deviation);
    }
    from = to;
  }
  return std::sqrt(std::max(sum, Long{0}));
}

double quantile_distance(const LineLawOf<double>& one, const LineLawOf<double>& other, int count) {
  double sum = 0.0;
  for (int i = 0; i < count; ++i) {
    const double z = 6.0 * (2.0 * i + 1.0 - count) / count, p = normal_below(z);
    sum += normal_bell(z) * std::pow(one.quantile(p) - other.quantile(p), 2);
  }
  return std::sqrt(12.0 * sum / count);
}

}  // namespace mixcert::testing
