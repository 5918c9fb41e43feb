// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Neuron j costs about B_jj Var(m) E a_j^2, B = M' Q M summed over the norms of a error norm. A choice, not
// part of any bound.
#include "methods/moment/plan/mask_planner.h"

#include <algorithm>

#include "methods/moment/surrogate_law.h"

namespace mixcert {
namespace {

Vector output_weights(const std::vector<ErrorNorm>& error_norms) {
  const ErrorNorm& error_norm =
      *std::min_element(error_norms.begin(), error_norms.end(),
                        [](const auto& a, const auto& b) { return a.gain() < b.gain(); });
  Vector weights = Vector::Zero(error_norm.norms.front().gram.rows());
  for (const NormTerm& norm : error_norm.norms) {
    weights += norm.factor * norm.factor * norm.gram.diagonal();
    if (norm.noise_gram.size() > 0) weights += norm.factor * norm.factor * norm.noise_gram.diagonal();
  }
  return weights;
}

}  // namespace

MaskTree plan_masks(const Prepared& prepared, Index layer, const GaussianMixture& mixture, Index leaves) {
  const Mask& mask = prepared.network.mask(layer);
  if (leaves < 2 || mask.kind() != Mask::Kind::Bernoulli) return {};
  Vector second = Vector::Zero(mixture.dimension());
  for (Index i = 0; i < mixture.size(); ++i) {
    second +=
        mixture.weights()(i) * surrogate_law(prepared.network.activation(layer), mixture.component(i)).second;
  }
  const Vector costs =
      output_weights(prepared.error_norms[static_cast<std::size_t>(layer - 1)]).cwiseProduct(second);
  return grow_mask_tree(costs, mask, leaves);
}

}  // namespace mixcert
