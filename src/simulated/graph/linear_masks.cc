// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/graph/linear_masks.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "mixcert/core/rounding.h"
#include "network/mask_sums/mask_sum_distance.h"

namespace mixcert {
namespace {

/// Enumerated at most: 64 components.
constexpr int kMostEnumerated = 6;
/// What enumeration has to bring.
constexpr double kWorthComponents = 0.9;

/// One mask of the surrogate: it adds vector Y.
struct OneMask {
  double rate;
  Vector vector;
};

std::vector<OneMask> heaviest_first(const LayerGraph& graph, const LinearSurrogate& surrogate) {
  std::vector<OneMask> masks;
  for (Index k = 0; k < graph.size(); ++k) {
    const auto* node = std::get_if<MaskNode>(&graph.node(k).work);
    const Matrix& factor = surrogate.factor(k);
    if (node == nullptr || !node->jumps()) continue;
    for (Index j = 0; j < factor.rows(); ++j) masks.push_back({node->mask.rate(), factor.row(j)});
  }
  std::stable_sort(masks.begin(), masks.end(), [](const OneMask& a, const OneMask& b) {
    return a.vector.squaredNorm() > b.vector.squaredNorm();
  });
  return masks;
}

/// Masks from `first` on, those of one rate together.
std::vector<MaskGroup> groups_of(const std::vector<OneMask>& masks, std::size_t first) {
  std::vector<MaskGroup> groups;
  for (std::size_t j = first; j < masks.size(); ++j) {
    auto own = std::find_if(groups.begin(), groups.end(),
                            [&](const MaskGroup& group) { return group.rate == masks[j].rate; });
    if (own == groups.end()) {
      const auto count = std::count_if(masks.begin() + static_cast<std::ptrdiff_t>(first), masks.end(),
                                       [&](const OneMask& mask) { return mask.rate == masks[j].rate; });
      groups.push_back({masks[j].rate, Matrix(masks[j].vector.size(), count)});
      own = groups.end() - 1;
      own->vectors.setZero();
    }
  }
  for (MaskGroup& group : groups) {
    Index at = 0;
    for (std::size_t j = first; j < masks.size(); ++j)
      if (masks[j].rate == group.rate) group.vectors.col(at++) = masks[j].vector;
  }
  return groups;
}

/// Everything but masks that jump.
struct Normals {
  Matrix covariance;
  double moved =
      0.0;  ///< no less than what rounding of the covariance moves their law by (Powers and Stormer)
};

Normals normals_of(const LayerGraph& graph, const LinearSurrogate& surrogate) {
  const Index outputs = graph.outputs();
  Normals normals{Matrix::Zero(outputs, outputs)};
  double squares = 0.0;
  Index count = 0;
  for (Index k = 0; k < graph.size(); ++k) {
    const auto* node = std::get_if<MaskNode>(&graph.node(k).work);
    const Matrix& factor = surrogate.factor(k);
    if (factor.size() == 0 || (node != nullptr && node->jumps())) continue;
    normals.covariance += factor.transpose() * factor;
    squares += factor.squaredNorm();
    count += factor.rows();
  }
  // Trace norm; twice where the sum is not semidefinite and its positive part is meant.
  const double off = rounding_gamma(count + graph.size() + 8) * enlarged(squares);
  normals.moved = enlarged(std::sqrt(2.0 * std::sqrt(static_cast<double>(outputs)) * off));
  return normals;
}

/// What rounded weights and means of the states of `count` masks move the mixture by: weights are off by eta
/// of themselves, which moves as much of the law, 2 (eta E|x|^2)^{1/2}; means by gamma |Y_j| |c_j|, |Y_j| = 1
/// in mean square.
double states_moved(const std::vector<OneMask>& masks, int count, const Matrix& rest) {
  if (count == 0) return 0.0;
  const double gamma = rounding_gamma(4 * count + 16);
  double squares = rest.trace(), sizes = 0.0;
  for (int j = 0; j < count; ++j) {
    const double square = masks[static_cast<std::size_t>(j)].vector.squaredNorm();
    squares += square;
    sizes += std::sqrt(square);
  }
  return enlarged(2.0 * std::sqrt(gamma * enlarged(squares)) + gamma * sizes);
}

/// All states of the first `count` masks, each with the rest as a Gaussian.
GaussianMixture states_of(const std::vector<OneMask>& masks, int count, const Matrix& rest) {
  std::vector<Gaussian> components;
  std::vector<double> weights;
  for (unsigned state = 0; state < 1U << static_cast<unsigned>(count); ++state) {
    Vector mean = Vector::Zero(rest.rows());
    double weight = 1.0;
    for (int j = 0; j < count; ++j) {
      const OneMask& mask = masks[static_cast<std::size_t>(j)];
      const bool dropped = ((state >> static_cast<unsigned>(j)) & 1U) != 0;
      const double odds = std::sqrt(mask.rate / (1.0 - mask.rate));
      mean += (dropped ? -1.0 / odds : odds) * mask.vector;
      weight *= dropped ? mask.rate : 1.0 - mask.rate;
    }
    components.push_back({std::move(mean), Covariance::dense(rest)});
    weights.push_back(weight);
  }
  return {Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size())),
          std::move(components)};
}

MaskMixture with_enumerated(const std::vector<OneMask>& masks, int count, const Normals& normals) {
  const std::vector<MaskGroup> rest = groups_of(masks, static_cast<std::size_t>(count));
  const MaskSumBound bound = mask_sum_distance(rest, normals.covariance);
  Matrix covariance = normals.covariance;
  for (const MaskGroup& group : rest) covariance += group.vectors * group.vectors.transpose();
  const double rounding = normals.moved + stored_covariance_cost(rest, normals.covariance, covariance) +
                          states_moved(masks, count, covariance);
  return {states_of(masks, count, covariance), enlarged(bound.w2 + rounding), bound.theorem};
}

}  // namespace

MaskMixture mask_mixture(const LayerGraph& graph, const LinearSurrogate& surrogate, Index components) {
  const std::vector<OneMask> masks = heaviest_first(graph, surrogate);
  const Normals normals = normals_of(graph, surrogate);
  MaskMixture plain = with_enumerated(masks, 0, normals);
  int count = std::min(kMostEnumerated, static_cast<int>(masks.size()));
  while (count > 0 && components > 0 && (Index{1} << count) > components) --count;
  if (count == 0) return plain;
  MaskMixture enumerated = with_enumerated(masks, count, normals);
  return enumerated.distance <= kWorthComponents * plain.distance ? std::move(enumerated) : std::move(plain);
}

}  // namespace mixcert
