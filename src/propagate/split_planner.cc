// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Planning of pieces, layer by layer.
#include "propagate/split_planner.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "certify/surrogate_law.h"
#include "mixcert/certify/moment_certificate.h"
#include "mixcert/propagate/compression.h"
#include "propagate/component_split.h"

namespace mixcert {

MomentLayerTrace SplitPlanner::plan(Index layer, GaussianMixture mixture) const {
  if (budget_ <= mixture.size() && mixture.size() == 1) {
    MomentLayerTrace whole;
    whole.pieces = mixture;
    whole.after = std::move(mixture);
    return whole;
  }
  MomentLayerTrace best = reduce_and_split(layer, mixture, std::min(mixture.size(), budget_));
  const Index components = prepared_.options.components;
  if (components == 0 || components >= mixture.size()) return best;
  // Merging costs a term of its own but leaves budget for splits where they are needed.
  const auto cost = [&](MomentLayerTrace& candidate) {
    for (const Gaussian& piece : candidate.pieces.components()) {
      candidate.surrogates.push_back(surrogate_law(prepared_.network.activation(layer), piece));
    }
    const LayerTerms terms =
        evaluate_moment_layer(prepared_.network, prepared_.sensitivity, prepared_.carriers, candidate, layer);
    candidate.surrogates.clear();
    return terms.compression.upper + terms.local.upper;
  };
  MomentLayerTrace merged = reduce_and_split(layer, mixture, components);
  return cost(merged) < cost(best) ? merged : best;
}

MomentLayerTrace SplitPlanner::reduce_and_split(Index layer, const GaussianMixture& mixture,
                                                Index components) const {
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
  const Index share = budget_ / trace.after.size();
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
