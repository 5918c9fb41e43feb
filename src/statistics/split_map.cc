// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Splits of samples. A component N(m, C) is m + U xi + r with independent standard normals xi and
// r ~ N(0, C - U U'). Given z, xi is Gaussian with mean U' C^+ (z - m) and covariance I - U' C^+ U; it is
// drawn, moved to xi', and z becomes z + U (xi' - xi), which leaves r alone (C.3).
#include "statistics/split_map.h"

#include <algorithm>
#include <cmath>

#include "core/normal.h"
#include "statistics/simulate/gaussian_sampler.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {
namespace {

/// log of the upper tail of the rule's mixture at x >= 0, and its derivative.
struct LogTail {
  double value = 0.0;
  double slope = 0.0;
};

LogTail log_tail(const SplitRule& rule, double x) {
  double tail = 0.0;
  double density = 0.0;
  for (Index c = 0; c < rule.size(); ++c) {
    const double t = (x - rule.centers(c)) / rule.width;
    tail += rule.weights(c) * normal_tail(t);
    density += rule.weights(c) * normal_density(t);
  }
  return {std::log(tail / rule.weights.sum()), -density / (rule.width * tail)};
}

}  // namespace

double monotone_split(const SplitRule& rule, double x) {
  // Rules are symmetric: the upper tail is accurate where the distribution function is not.
  const double size = std::abs(x);
  const double wanted = std::log(normal_tail(size));
  double low = 0.0;
  double high = rule.centers.maxCoeff() + rule.width * size;
  double place = 0.5 * (low + high);
  for (int step = 0; step < 200; ++step) {
    const LogTail tail = log_tail(rule, place);
    (tail.value > wanted ? low : high) = place;
    double next = place - (tail.value - wanted) / tail.slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const double change = std::abs(next - place);
    place = next;
    if (change <= 1e-14 * (1.0 + place)) break;
  }
  return std::copysign(place, x);
}

Index draw_split_component(const SplitRule& rule, double x, Generator& generator) {
  Vector posterior = -0.5 * ((x - rule.centers.array()) / rule.width).square();
  posterior = rule.weights.array() * (posterior.array() - posterior.maxCoeff()).exp();
  double left = uniform(generator) * posterior.sum();
  for (Index c = 0; c + 1 < rule.size(); ++c) {
    left -= posterior(c);
    if (left < 0.0) return c;
  }
  return rule.size() - 1;
}

SplitMap::SplitMap(const Gaussian& component, const std::vector<SplitDirection>& splits) : splits_(splits) {
  if (splits.empty()) return;
  whitening_.emplace_back(component);
  const auto count = static_cast<Index>(splits.size());
  directions_.resize(component.dimension(), count);
  for (Index d = 0; d < count; ++d) {
    const SplitDirection& split = splits[static_cast<std::size_t>(d)];
    directions_.col(d) = split.direction;
    piece_count_ *= split.rule->size();
  }
  regression_ = whitening_.front().apply_inverse_root(directions_).transpose();
  rest_factor_ = psd_factor(Matrix::Identity(count, count) - regression_ * regression_.transpose());
}

std::vector<Index> SplitMap::apply(Matrix& samples, Generator& generator) const {
  std::vector<Index> pieces(static_cast<std::size_t>(samples.cols()), 0);
  if (splits_.empty()) return pieces;
  Matrix normals(directions_.cols(), samples.cols());
  fill_normal(generator, normals);
  const Matrix before = regression_ * whitening_.front().whiten(samples, generator) + rest_factor_ * normals;
  Matrix change(before.rows(), before.cols());
  for (Index s = 0; s < samples.cols(); ++s) {
    Index piece = 0;
    for (Index d = 0; d < before.rows(); ++d) {
      const SplitRule& rule = *splits_[static_cast<std::size_t>(d)].rule;
      const double after = monotone_split(rule, before(d, s));
      change(d, s) = after - before(d, s);
      piece = piece * rule.size() + draw_split_component(rule, after, generator);
    }
    pieces[static_cast<std::size_t>(s)] = piece;
  }
  samples.noalias() += directions_ * change;
  return pieces;
}

}  // namespace mixcert
