// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Neuron j costs about B_jj Var(m) E a_j^2, B = M' Q M summed over the norms of a carrier. A choice, not part
// of any bound.
#include "propagate/mask_planner.h"

#include <algorithm>

#include "certify/surrogate_law.h"

namespace mixcert {
namespace {

Vector output_weights(const std::vector<Carrier>& carriers) {
  const Carrier& carrier = *std::min_element(
      carriers.begin(), carriers.end(), [](const auto& a, const auto& b) { return a.gain() < b.gain(); });
  Vector weights = Vector::Zero(carrier.norms.front().gram.rows());
  for (const CarriedNorm& norm : carrier.norms) {
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
      output_weights(prepared.carriers[static_cast<std::size_t>(layer - 1)]).cwiseProduct(second);
  return grow_mask_tree(costs, mask, leaves);
}

}  // namespace mixcert
