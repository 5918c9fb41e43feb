// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Costs of splits, docs/theory/splitting.md (P.1), and of the rounded pieces (H.6).
#include "certify/split_error.h"

#include <cmath>

namespace mixcert {
namespace {

/// sum_d u_d' G u_d omega_d^2.
Upper component_cost(const std::vector<SplitDirection>& splits, ConstVectorRef g) {
  Upper cost;
  for (const SplitDirection& split : splits) {
    const double size = g.dot(split.direction.cwiseAbs2());
    const Upper omega = Upper::exact(split.rule->error);
    cost = cost + Upper::of_sum(size, 2 * g.size() + 4) * omega * omega;
  }
  return cost;
}

}  // namespace

Upper split_distance(const MomentLayerTrace& layer, ConstVectorRef g, Upper scale) {
  Upper squared;
  double spread = 0.0;
  Index directions = 0;
  for (std::size_t j = 0; j < layer.splits.size(); ++j) {
    if (layer.splits[j].empty()) continue;
    const double weight = layer.after.weights()(static_cast<Index>(j));
    const Gaussian& component = layer.after.component(static_cast<Index>(j));
    squared = squared + Upper::exact(weight) * component_cost(layer.splits[j], g);
    spread += weight * g.dot(component.covariance.variances() + component.mean.cwiseAbs2());
    directions = std::max(directions, static_cast<Index>(layer.splits[j].size()));
  }
  if (directions == 0) return {};
  // Means, covariances and weights of the pieces are rounded (H.6).
  const double n = static_cast<double>(g.size());
  const double relative = 8.0 * n * rounding_gamma(8 * directions + 64);
  return (sqrt(squared) + Upper{0.0, std::sqrt(relative * spread) * (1.0 + 1e-9)}) * scale;
}

}  // namespace mixcert
