// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two ways of keeping the 2^n masks of every point from becoming 2^n points.
#include "propagate/mask_points.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

// More masks than this are never enumerated, whatever the budget.
constexpr Index kMostMasks = 30;

/// Indices by falling value.
std::vector<Index> by_size(const Vector& values) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return values(a) > values(b); });
  return order;
}

/// Appends the 2^E points that the masks of `coordinates` make of a point.
void append_patterns(const Vector& point, double weight, const Mask& mask,
                     const std::vector<Index>& coordinates, Index& column, DiscreteLaw& law) {
  const Index patterns = Index{1} << coordinates.size();
  for (Index pattern = 0; pattern < patterns; ++pattern, ++column) {
    double probability = weight;
    law.points.col(column) = point;
    for (std::size_t e = 0; e < coordinates.size(); ++e) {
      const bool kept = ((pattern >> e) & 1) != 0;
      law.points(coordinates[e], column) *= kept ? 1.0 / mask.keep() : 0.0;
      probability *= kept ? mask.keep() : mask.rate();
    }
    law.weights(column) = probability;
  }
}

/// E c_j^2, rounded up.
Vector second_moments(const DiscreteLaw& law) {
  return (1.0 + rounding_gamma(law.weights.size() + 8)) * (law.points.cwiseAbs2() * law.weights);
}

}  // namespace

MaskedPoints mask_coordinates(const DiscreteLaw& law, const Mask& mask, ConstVectorRef weights,
                              Index most_points) {
  const Index count = law.weights.size();
  Index masks = 0;
  if (mask.kind() == Mask::Kind::Bernoulli) {
    while (masks < std::min(kMostMasks, law.points.rows()) && (count << (masks + 1)) <= most_points) ++masks;
  }
  Vector errors = mask.variance().upper * (1.0 + 8 * kUnitRoundoff) * second_moments(law);
  std::vector<Index> coordinates = by_size(weights.cwiseProduct(errors));
  coordinates.resize(static_cast<std::size_t>(masks));
  for (const Index j : coordinates) errors(j) = 0.0;
  const Index points = count << masks;
  MaskedPoints masked{{Matrix(law.points.rows(), points), Vector(points)}, std::move(errors)};
  Index column = 0;
  for (Index i = 0; i < count; ++i) {
    append_patterns(law.points.col(i), law.weights(i), mask, coordinates, column, masked.law);
  }
  return masked;
}

MaskedPoints mask_like_paper(const DiscreteLaw& law, const Mask& mask, Index most_points) {
  if (mask.kind() != Mask::Kind::Bernoulli)
    return mask_coordinates(law, mask, Vector::Ones(law.points.rows()), 0);
  const Index count = law.weights.size();
  const Index n = law.points.rows();
  Index expanded = 0;
  if (n <= kMostMasks) {
    expanded = std::clamp((most_points - count) / ((Index{1} << n) - 1), Index{0}, count);
  }
  const std::vector<Index> order = by_size(law.points.colwise().norm().transpose());
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  const Index patterns = expanded > 0 ? Index{1} << n : 1;
  const Index points = count + expanded * (patterns - 1);
  MaskedPoints masked{{Matrix(n, points), Vector(points)}, Vector::Zero(n)};
  Index column = 0;
  for (Index i = 0; i < count; ++i) {
    const Index at = order[static_cast<std::size_t>(i)];
    if (i < expanded) {
      append_patterns(law.points.col(at), law.weights(at), mask, all, column, masked.law);
      continue;
    }
    masked.law.points.col(column) = law.points.col(at) / mask.keep();
    masked.law.weights(column) = law.weights(at);
    // E (m c - c / keep)^2 = rate c^2 / keep^2.
    masked.errors += law.weights(at) * masked.law.points.col(column).cwiseAbs2();
    ++column;
  }
  masked.errors *= mask.rate() * (1.0 + rounding_gamma(count + 16));
  return masked;
}

}  // namespace mixcert
