// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method's propagation, docs/theory/moment-method.md (H.4).
#include "mixcert/propagate/moment_propagate.h"

#include <utility>

#include "certify/masked_law.h"
#include "certify/moment_error.h"
#include "mixcert/core/error.h"
#include "propagate/first_push.h"
#include "propagate/surrogate_push.h"

namespace mixcert {
namespace {

/// Surrogates of all pieces and leaves of masks, recorded in the layer, and the mixture they push.
GaussianMixture push_pieces(const Network& network, Index k, MomentLayerTrace& layer) {
  add_surrogates(network.activation(k), network.mask(k), layer);
  std::vector<Gaussian> pushed;
  pushed.reserve(layer.surrogates.size());
  for (const SurrogateLaw& law : layer.surrogates) {
    const Gaussian& piece = layer.pieces.component(static_cast<Index>(pushed.size()) / layer.masks.size());
    pushed.push_back(push_surrogate(network.layer(k), piece, law));
  }
  return {pushed_weights(layer), std::move(pushed)};
}

}  // namespace

std::string correlated_layer(const Network& network) {
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    if (has_independent_outputs(layer)) continue;
    return "layer '" + layer.name() + "' has correlated outputs (weights " +
           std::string(family_name(layer.weights())) + ", bias " + std::string(family_name(layer.bias())) +
           ")";
  }
  return "";
}

MomentTrace propagate_moments(const Network& network, ConstVectorRef input, const MomentPlanner& planner,
                              const Services& services) {
  MomentTrace trace;
  // The first affine layer at the input; a Gaussian.
  FirstPush first = push_first(network, input);
  trace.first = std::move(first.trace);
  GaussianMixture mixture(std::move(first.law));

  for (Index k = 1; k <= network.hidden_count(); ++k) {
    if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
    MomentLayerTrace layer = planner(k, std::move(mixture));
    mixture = push_pieces(network, k, layer);
    trace.layers.push_back(std::move(layer));
  }
  trace.output = std::move(mixture);
  return trace;
}

}  // namespace mixcert
