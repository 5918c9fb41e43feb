// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two ways of keeping the 2^n masks of every point from becoming 2^n points: by coordinates (D.5), and like
// the paper (D.6).
#include <algorithm>
#include <numeric>
#include <vector>

#include "certificate/mask_tree.h"
#include "methods/signature/signature_trace.h"
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

/// Appends the points that the leaves make of a point; masks that a leaf does not know are one.
void append_leaves(const Vector& point, double weight, double keep, const MaskTree& tree, Index& column,
                   DiscreteLaw& law) {
  for (Index i = 0; i < tree.size(); ++i, ++column) {
    const MaskLeaf& leaf = tree.leaf(i);
    law.points.col(column) = point;
    for (const Index j : leaf.kept) law.points(j, column) /= keep;
    for (const Index j : leaf.dropped) law.points(j, column) = 0.0;
    law.weights(column) = weight * leaf.probability;
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
  Vector errors = mask.variance().upper * (1.0 + 8 * kUnitRoundoff) * second_moments(law);
  const MaskTree tree = grow_mask_tree(weights.cwiseProduct(errors), mask, most_points / count);
  // The probability that a mask is not known.
  Vector unknown = Vector::Zero(errors.size());
  for (Index i = 0; i < tree.size(); ++i) {
    const MaskLeaf& leaf = tree.leaf(i);
    Vector here = Vector::Constant(errors.size(), leaf.probability);
    for (const Index j : leaf.kept) here(j) = 0.0;
    for (const Index j : leaf.dropped) here(j) = 0.0;
    unknown += here;
  }
  errors = (1.0 + rounding_gamma(2 * tree.size() + 16)) * errors.cwiseProduct(unknown);
  const Index points = count * tree.size();
  MaskedPoints masked{{Matrix(law.points.rows(), points), Vector(points)}, std::move(errors), tree.size()};
  Index column = 0;
  for (Index i = 0; i < count; ++i) {
    append_leaves(law.points.col(i), law.weights(i), mask.keep(), tree, column, masked.law);
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
  const MaskTree all = expanded > 0 ? grow_mask_tree(Vector::Ones(n), mask, Index{1} << n) : MaskTree();
  const Index points = count + expanded * (all.size() - 1);
  MaskedPoints masked{{Matrix(n, points), Vector(points)}, Vector::Zero(n), all.size()};
  Index column = 0;
  for (Index i = 0; i < count; ++i) {
    const Index at = order[static_cast<std::size_t>(i)];
    if (i < expanded) {
      append_leaves(law.points.col(at), law.weights(at), mask.keep(), all, column, masked.law);
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
