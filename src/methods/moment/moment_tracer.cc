// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method's laws, docs/theory/moment-method.md (H.4), for a block of inputs layer by layer. Choices
// are checked before anything is made of them.
#include "methods/moment/moment_tracer.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "certificate/first_push.h"
#include "certificate/rounding_terms.h"
#include "certificate/seal.h"
#include "methods/moment/split_pieces.h"
#include "methods/moment/surrogate_law.h"
#include "mixcert/core/error.h"

namespace mixcert {

namespace {

/// Only rules of the table have a proven error (P.2).
bool is_proven_rule(const SplitRule* rule) {
  const std::vector<SplitRule>& rules = split_rules();
  return std::any_of(rules.begin(), rules.end(), [rule](const SplitRule& known) { return rule == &known; });
}

/// Throws unless the directions are parts of the component (P.1).
void check_split(const Gaussian& component, const std::vector<SplitDirection>& splits) {
  if (splits.empty()) return;
  for (const SplitDirection& split : splits) {
    require(split.direction.size() == component.dimension() && is_proven_rule(split.rule),
            "moment method: a split needs a direction of the layer's size and a rule of the table");
  }
  require(splits_fit(component.covariance, splits), "moment method: a split is no part of its component");
}

/// The pieces of the reduced mixture; itself where nothing is split.
GaussianMixture make_pieces(const GaussianMixture& mixture,
                            const std::vector<std::vector<SplitDirection>>& splits) {
  const auto is_empty = [](const std::vector<SplitDirection>& list) { return list.empty(); };
  require(splits.empty() || static_cast<Index>(splits.size()) == mixture.size(),
          "moment method: expected one list of splits for each component");
  // Pieces are raised (H.6), which (P.1) charges only where something is split.
  if (std::all_of(splits.begin(), splits.end(), is_empty)) return mixture;
  for (Index j = 0; j < mixture.size(); ++j) {
    check_split(mixture.component(j), splits[static_cast<std::size_t>(j)]);
  }
  return split_components(mixture, splits);
}

MomentLayerTrace make_layer(const Network& network, Index number, const GaussianMixture& mixture,
                            MomentChoices choices) {
  MomentLayerTrace layer;
  if (choices.reduction.is_empty()) {
    layer.after = mixture;
  } else {
    require(choices.reduction->before.is_copy_of(mixture),
            "moment method: the reduction is that of another mixture");
    static_cast<CompressionTrace&>(layer) = *choices.reduction;
  }
  require(choices.masks.fits(network.mask(number), mixture.dimension()),
          "moment method: the tree of masks is that of another layer");
  layer.masks = std::move(choices.masks);
  layer.pieces = make_pieces(layer.after, choices.splits);
  layer.splits = std::move(choices.splits);
  add_surrogates(network.activation(number), network.mask(number), layer);
  return layer;
}

/// Pushes the last layer of every trace. Means and noise of all inputs, pieces and leaves of masks are one
/// product each.
std::vector<GaussianMixture> push_layers(const DenseLayer& next, const std::vector<MomentTrace>& traces) {
  std::vector<const SurrogateLaw*> laws;
  for (const MomentTrace& trace : traces) {
    for (const SurrogateLaw& law : trace.layers.back().surrogates) laws.push_back(&law);
  }
  const SurrogateImages images = surrogate_images(next, laws);
  std::vector<GaussianMixture> mixtures;
  Index column = 0;
  for (const MomentTrace& trace : traces) {
    const MomentLayerTrace& layer = trace.layers.back();
    std::vector<Gaussian> pushed;
    pushed.reserve(layer.surrogates.size());
    for (const SurrogateLaw& law : layer.surrogates) {
      const Gaussian& piece = layer.pieces.component(static_cast<Index>(pushed.size()) / layer.masks.size());
      pushed.push_back(push_surrogate(next, piece, law, images.means.col(column), images.noise.col(column)));
      ++column;
    }
    mixtures.emplace_back(pushed_weights(layer), std::move(pushed));
  }
  return mixtures;
}

}  // namespace

Sealed<MomentLayerTrace> trace_moment_layer(const Network& network, Index layer,
                                            const GaussianMixture& mixture, MomentChoices choices) {
  require(
      layer >= 1 && layer <= network.hidden_count() && mixture.dimension() == network.layer(layer).inputs(),
      "moment method: the mixture is not that of a hidden layer");
  return Seal::on(make_layer(network, layer, mixture, std::move(choices)));
}

MomentTracer::MomentTracer(const Network& network, ConstMatrixRef inputs) : network_(network) {
  for (FirstPush& first : push_first_separately(network, inputs)) {
    firsts_.push_back({GaussianMixture(std::move(first.law)), std::move(first.trace)});
  }
}

std::vector<Sealed<MomentTrace>> MomentTracer::trace_all(const MomentPlanner& planner) const {
  return trace_some(0, input_count(), planner);
}

Sealed<MomentTrace> MomentTracer::trace(Index input, const MomentPlanner& planner) const {
  return std::move(trace_some(input, 1, planner).front());
}

std::vector<Sealed<MomentTrace>> MomentTracer::trace_some(Index first, Index count,
                                                          const MomentPlanner& planner) const {
  std::vector<MomentTrace> traces(static_cast<std::size_t>(count));
  std::vector<GaussianMixture> mixtures;
  // The first affine layer at the input; a Gaussian.
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const First& start = firsts_[static_cast<std::size_t>(first) + i];
    traces[i].first = start.trace;
    mixtures.push_back(start.law);
  }
  for (Index k = 1; k <= network_.hidden_count(); ++k) {
    for (std::size_t i = 0; i < traces.size(); ++i) {
      traces[i].layers.push_back(make_layer(network_, k, mixtures[i], planner(k, mixtures[i])));
    }
    mixtures = push_layers(network_.layer(k), traces);
  }
  std::vector<Sealed<MomentTrace>> sealed;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    traces[i].settled = settle_covariances(mixtures[i]);
    traces[i].output = std::move(mixtures[i]);
    sealed.push_back(Seal::on(std::move(traces[i])));
  }
  return sealed;
}

// The moment method for a caller's planner.

MomentPlanner interruptible(MomentPlanner planner, const Services& services) {
  return
      [planner = std::move(planner), cancel = services.cancel](Index layer, const GaussianMixture& mixture) {
        if (cancel != nullptr && cancel->load()) throw Interrupted("interrupted");
        return planner(layer, mixture);
      };
}

Sealed<MomentTrace> propagate_moments(const Network& network, ConstVectorRef input,
                                      const MomentPlanner& planner, const Services& services) {
  return MomentTracer(network, input).trace(0, interruptible(planner, services));
}

}  // namespace mixcert
