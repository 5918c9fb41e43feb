// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Planning of pieces, layer by layer.
#include "propagate/split_planner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "certify/masked_law.h"
#include "mixcert/certify/moment_certificate.h"
#include "mixcert/propagate/compression.h"
#include "propagate/component_split.h"
#include "propagate/mask_planner.h"

namespace mixcert {

MomentLayerTrace SplitPlanner::plan(Index layer, GaussianMixture mixture) const {
  if (budget_ <= mixture.size() && mixture.size() == 1) {
    MomentLayerTrace whole;
    whole.pieces = mixture;
    whole.after = std::move(mixture);
    return whole;
  }
  std::vector<MomentLayerTrace> candidates;
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
  return std::move(candidates[cheapest(layer, candidates)]);
}

std::size_t SplitPlanner::cheapest(Index layer, std::vector<MomentLayerTrace>& candidates) const {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < candidates.size() && candidates.size() > 1; ++c) {
    MomentLayerTrace& candidate = candidates[c];
    add_surrogates(prepared_.network.activation(layer), prepared_.network.mask(layer), candidate);
    const LayerTerms terms =
        evaluate_moment_layer(prepared_.network, prepared_.sensitivity, prepared_.carriers, candidate, layer);
    candidate.surrogates.clear();
    const double cost = terms.compression.upper + terms.local.upper;
    if (!(cost < least)) continue;
    least = cost;
    best = c;
  }
  return best;
}

MomentLayerTrace SplitPlanner::reduce_and_split(Index layer, const GaussianMixture& mixture, Index components,
                                                Index leaves) const {
  MomentLayerTrace trace;
  const MetricChain& chain = prepared_.sensitivity.reference_chain(layer);
  const Vector& metric = chain.activation_weights[static_cast<std::size_t>(layer - 1)];
  if (components < mixture.size()) {
    Compressed compressed = compress(mixture, components, metric, prepared_.options.seed);
    trace.before = mixture;
    trace.after = std::move(compressed.mixture);
    trace.plan = std::move(compressed.plan);
  } else {
    trace.after = mixture;
  }
  trace.masks = plan_masks(prepared_, layer, trace.after, leaves);
  const Index share = budget_ / (trace.after.size() * trace.masks.size());
  if (share < 2) {
    trace.pieces = trace.after;
    return trace;
  }
  const ComponentSplitter splitter(prepared_, layer);
  std::vector<Gaussian> pieces;
  std::vector<double> weights;
  for (Index j = 0; j < trace.after.size(); ++j) {
    trace.splits.push_back(splitter.choose(trace.after.component(j), share));
    const GaussianMixture split = split_component(trace.after.component(j), trace.splits.back());
    for (Index i = 0; i < split.size(); ++i) {
      pieces.push_back(split.component(i));
      weights.push_back(trace.after.weights()(j) * split.weights()(i));
    }
  }
  const Eigen::Map<const Vector> all(weights.data(), static_cast<Index>(weights.size()));
  trace.pieces = GaussianMixture(all / all.sum(), std::move(pieces));
  return trace;
}

}  // namespace mixcert
