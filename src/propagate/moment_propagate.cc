// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method's propagation, docs/theory/moment-method.md (H.4).
#include "mixcert/propagate/moment_propagate.h"

#include <utility>

#include "certify/moment_error.h"
#include "certify/surrogate_law.h"
#include "mixcert/core/error.h"
#include "propagate/first_push.h"
#include "propagate/surrogate_push.h"

namespace mixcert {
namespace {

/// Surrogates of all pieces, recorded in the layer, and the mixture they push.
GaussianMixture push_pieces(const DenseLayer& next, const ActivationMap& activation, MomentLayerTrace& layer) {
  std::vector<Gaussian> pushed;
  pushed.reserve(static_cast<std::size_t>(layer.pieces.size()));
  for (const Gaussian& piece : layer.pieces.components()) {
    layer.surrogates.push_back(surrogate_law(activation, piece));
    pushed.push_back(push_surrogate(next, piece, layer.surrogates.back()));
  }
  return {layer.pieces.weights(), std::move(pushed)};
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
  trace.input_norm = first.input_norm;
  trace.first_raise = std::move(first.raise);
  GaussianMixture mixture(std::move(first.law));

  for (Index k = 1; k <= network.hidden_count(); ++k) {
    if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
    MomentLayerTrace layer = planner(k, std::move(mixture));
    mixture = push_pieces(network.layer(k), network.activation(k), layer);
    trace.layers.push_back(std::move(layer));
  }
  trace.output = std::move(mixture);
  return trace;
}

}  // namespace mixcert
