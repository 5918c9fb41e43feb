// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Planning of pieces, layer by layer.
#include "methods/moment/plan/split_planner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "methods/compression.h"
#include "methods/moment/moment_certificate.h"
#include "methods/moment/plan/component_split.h"
#include "methods/moment/plan/mask_planner.h"

namespace mixcert {

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
        evaluate_moment_layer(prepared_.network, prepared_.sensitivity, prepared_.error_norms,
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
  const MetricChain& chain = prepared_.sensitivity.reference_chain(layer);
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
