// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "network/mask_sums/mask_flow.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementary.h"
#include "mixcert/core/rounding.h"
#include "network/mask_sums/pair_sums.h"

namespace mixcert {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// scale^2 R'R is no less than the inverse of noise + lambda total: checked, whatever Cholesky's
/// factorisation made of it. Not there (scale 0) where the check fails.
struct InverseRoot {
  Matrix root;
  double scale = 0.0;
};

InverseRoot inverse_root(const FlowStage& stage, double lambda) {
  InverseRoot made;
  const Index m = stage.noise.rows();
  const Matrix q = stage.noise + lambda * stage.total;
  const Eigen::LLT<Matrix> factor(q);
  if (factor.info() != Eigen::Success) return made;
  made.root = factor.matrixL().solve(Matrix::Identity(m, m));
  Matrix image = made.root * q * made.root.transpose();
  const double least = image.diagonal().minCoeff<Eigen::PropagateNaN>();
  image.diagonal().setZero();
  const double size = enlarged(made.root.squaredNorm());
  const double defect = enlarged(image.norm()) + size * (rounding_gamma(4 * m + 16) * enlarged(q.norm()) +
                                                         (1.0 + lambda) * stage.error * 1.01);
  const double proven = least - enlarged(defect);
  if (!(proven > 0.5) || !std::isfinite(size)) return made;
  made.scale = enlarged(1.0 / std::sqrt(proven));
  return made;
}

/// No more than w^-2 - 1.
double noise_ratio(double w) { return reduced((1.0 - w) * (1.0 + w) / (w * w)); }

/// Masks of a stage with their noise, as (D.15) needs them.
struct StageTerms {
  PairTerms pairs;
  std::vector<int> levels;
  Vector direction_errors;  ///< no less than |u_j as computed - u_j|
};

/// u_j = s_j R c_j, s_j the highest level that is no more than 1/|R c_j|; false where there is none.
bool place_directions(const MaskVectors& masks, const FlowStage& stage, const InverseRoot& inverse,
                      StageTerms& terms) {
  const Index n = stage.last - stage.first, m = masks.vectors.rows();
  terms.pairs.vectors = masks.vectors.middleCols(stage.first, n);
  terms.pairs.sizes = enlarged(masks.squares.segment(stage.first, n).cwiseSqrt());
  terms.pairs.directions = inverse.root * terms.pairs.vectors;
  terms.direction_errors.resize(n);
  terms.levels.resize(static_cast<std::size_t>(n));
  const double relative = enlarged(rounding_gamma(2 * m + 8) * inverse.root.norm());
  for (Index j = 0; j < n; ++j) {
    const double error = relative * terms.pairs.sizes(j);
    const double length = enlarged(inverse.scale * (terms.pairs.directions.col(j).norm() + error));
    const int level = NoisyMaskTable::level(reduced(1.0 / length));
    if (level < 0) return false;
    const double factor = NoisyMaskTable::deviation(level) * inverse.scale;
    terms.levels[static_cast<std::size_t>(j)] = level;
    terms.pairs.directions.col(j) *= factor;
    terms.direction_errors(j) = enlarged(factor * error + 16 * kUnitRoundoff);
  }
  return true;
}

/// What is summed over masks alone: diagonal terms of K^2, and what errors of h_q and u_j add to the norms of
/// the tensors.
struct OwnSums {
  double diagonal = 0.0, size = 0.0;
  std::array<double, 4> errors{};
};

}  // namespace

double MaskFlow::speed(const FlowStage& stage, double w) const {
  const InverseRoot inverse = inverse_root(stage, noise_ratio(w));
  StageTerms terms;
  if (inverse.scale == 0.0 || !place_directions(masks_, stage, inverse, terms)) return kInfinity;
  const Index n = stage.last - stage.first;
  std::vector<std::vector<int>> wanted(tables_.size());
  const auto law = [&](Index j) {
    return static_cast<std::size_t>(masks_.laws[static_cast<std::size_t>(stage.first + j)]);
  };
  for (Index j = 0; j < n; ++j) wanted[law(j)].push_back(terms.levels[static_cast<std::size_t>(j)]);
  for (std::size_t i = 0; i < tables_.size(); ++i) tables_[i].prepare(wanted[i], threads_);
  terms.pairs.weights.resize(n, kMaskOrders);
  terms.pairs.rests.resize(n);
  OwnSums own;
  for (Index j = 0; j < n; ++j) {
    const NoisyMask* mask = tables_[law(j)].find(terms.levels[static_cast<std::size_t>(j)]);
    if (mask == nullptr) return kInfinity;
    const double size = terms.pairs.sizes(j), delta = terms.direction_errors(j);
    // No more than |u_j|^2: pairs j = k are in the tensors' norms and do not belong there.
    const double length =
        reduced(square(positive_part(reduced(terms.pairs.directions.col(j).norm()) - delta)));
    double known = 0.0, power = 1.0, absolute = mask->square + square(mask->rest);
    for (int q = 0; q < kMaskOrders; ++q) {
      const auto at = static_cast<std::size_t>(q);
      const double h = mask->hermite[at], sure = positive_part(std::abs(h) - mask->error);
      terms.pairs.weights(j, q) = h;
      power *= length;
      known += square(sure) * power;
      absolute += square(h);
      own.errors[at] += size * (mask->error + std::abs(h) * static_cast<double>(q + 1) * delta);
    }
    known += square(mask->rest) * power * length;
    terms.pairs.rests(j) = mask->rest;
    own.errors[3] += size * mask->rest * 4.0 * delta;
    own.diagonal += square(size) * mask->square - reduced(reduced(square(size)) * known * (1.0 - 3e-9));
    own.size += square(size) * absolute;
  }
  const std::array<double, 4> sums = pair_sums(terms.pairs, threads_);
  double total = own.diagonal + enlarged(rounding_gamma(n + 64) * own.size);
  for (std::size_t q = 0; q < 4; ++q) total += square(enlarged(std::sqrt(sums[q]) + enlarged(own.errors[q])));
  return enlarged(std::sqrt(enlarged(total)));
}

namespace {

/// L of (D.11) from speeds at all nodes, each the least to its right.
void add_up(std::vector<FlowNode>& nodes) {
  for (std::size_t k = nodes.size() - 1; k > 0; --k) {
    nodes[k - 1].speed = std::min(nodes[k - 1].speed, nodes[k].speed);
  }
  double before = 0.0, sum = 0.0;
  for (FlowNode& node : nodes) {
    sum = enlarged(sum + (node.w - before) * node.speed);
    node.distance = sum;
    before = node.w;
  }
}

/// Between two times; half of what is left of the way to 1, in the logarithm.
double between(double left, double right) {
  const double rest = right < 1.0 ? std::sqrt((1.0 - left) * (1.0 - right)) : 0.25 * (1.0 - left);
  return 1.0 - rest;
}

/// Behind the node with the smallest bound nothing matters but the next interval.
double next_time(const std::vector<FlowNode>& nodes, double trace) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < nodes.size(); ++k) {
    if (jump_and_flow(nodes[k], 0.0, trace) < jump_and_flow(nodes[best], 0.0, trace)) best = k;
  }
  double time = 0.0, largest = -1.0, left = 0.0, slower = 0.0;
  for (std::size_t k = 0; k < std::min(best + 2, nodes.size()); ++k) {
    const double gain = (nodes[k].w - left) * (nodes[k].speed - slower);
    if (gain > largest && 1.0 - left > 1e-6) {
      largest = gain;
      time = between(left, nodes[k].w);
    }
    left = nodes[k].w;
    slower = nodes[k].speed;
  }
  return time;
}

}  // namespace

std::vector<FlowNode> MaskFlow::nodes(const FlowStage& stage, Index count) const {
  std::vector<FlowNode> nodes;
  const double trace = stage.total.trace();
  const auto insert = [&](double w) {
    const double found = speed(stage, w);
    if (!(found < kInfinity)) return false;
    const auto place = std::find_if(nodes.begin(), nodes.end(), [&](const FlowNode& n) { return n.w > w; });
    nodes.insert(place, {w, found, 0.0});
    add_up(nodes);
    return true;
  };
  for (const double w : {0.5, 0.8, 0.93, 0.98, 0.995, 0.999, 0.9998, 1.0}) insert(w);
  if (nodes.empty()) return nodes;
  for (Index k = static_cast<Index>(nodes.size()); k < count; ++k) {
    if (!insert(next_time(nodes, trace))) break;
  }
  return nodes;
}

double jump_and_flow(const FlowNode& node, double before, double trace) {
  const double w = node.w, l = node.distance;
  return enlarged(w * square(before + l) + 2.0 * (1.0 - w) * (before * l + trace) +
                  2.0 * (1.0 - w) * (1.0 + w) * node.speed * l);
}

}  // namespace mixcert
