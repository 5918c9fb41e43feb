// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Planning of masks and pieces, layer by layer.
#include "methods/moment/plan/split_planner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "methods/compression.h"
#include "methods/moment/moment_certificate.h"
#include "methods/moment/surrogate_law.h"

namespace mixcert {

// Neuron j costs about B_jj Var(m) E a_j^2, B = M' Q M summed over the norms of an error norm. A choice, not
// part of any bound.

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
      output_weights((*prepared.error_norms)[static_cast<std::size_t>(layer - 1)]).cwiseProduct(second);
  return grow_mask_tree(costs, mask, leaves);
}

MomentChoices SplitPlanner::plan(Index layer, const GaussianMixture& mixture) const {
  if (budget_ <= mixture.size() && mixture.size() == 1) return {};
  std::vector<MomentChoices> candidates;
  std::vector<Index> counts{std::min(mixture.size(), budget_)};
  // Merging costs a term of its own but leaves budget for splits and masks where they are needed.
  const Index merged = prepared_.options.components;
  if (merged > 0 && merged < mixture.size()) counts.push_back(merged);
  for (const Index components : counts) {
    candidates.push_back(reduce_and_split(layer, mixture, components, 1));
    if (prepared_.network.mask(layer).kind() != Mask::Kind::Bernoulli) continue;
    const Index leaves = budget_ / components;
    if (leaves > 1) candidates.push_back(reduce_and_split(layer, mixture, components, leaves));
    const auto root = static_cast<Index>(std::sqrt(static_cast<double>(leaves)));
    if (root > 1) candidates.push_back(reduce_and_split(layer, mixture, components, root));
  }
  return std::move(candidates[cheapest(layer, mixture, candidates)]);
}

std::size_t SplitPlanner::cheapest(Index layer, const GaussianMixture& mixture,
                                   const std::vector<MomentChoices>& candidates) const {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < candidates.size() && candidates.size() > 1; ++c) {
    const LayerTerms terms =
        evaluate_moment_layer(prepared_.network, *prepared_.sensitivity, *prepared_.error_norms,
                              trace_moment_layer(prepared_.network, layer, mixture, candidates[c]), layer);
    const double cost = terms.compression.upper + terms.local.upper;
    if (!(cost < least)) continue;
    least = cost;
    best = c;
  }
  return best;
}

MomentChoices SplitPlanner::reduce_and_split(Index layer, const GaussianMixture& mixture, Index components,
                                             Index leaves) const {
  MomentChoices choices;
  const MetricChain& chain = prepared_.sensitivity->reference_chain(layer);
  const Vector& metric = chain.activation_weights[static_cast<std::size_t>(layer - 1)];
  if (components < mixture.size()) {
    choices.reduction = compress(mixture, components, metric, prepared_.options.seed);
  }
  const GaussianMixture& reduced = choices.reduction.is_empty() ? mixture : choices.reduction->after;
  choices.masks = plan_masks(prepared_, layer, reduced, leaves);
  const Index share = budget_ / (reduced.size() * choices.masks.size());
  if (share < 2) return choices;
  const ComponentSplitter splitter(prepared_, layer);
  for (const Gaussian& component : reduced.components()) {
    choices.splits.push_back(splitter.choose(component, share));
  }
  return choices;
}

}  // namespace mixcert
