// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "methods/moment/situation.h"

#include "methods/moment/convex_noise.h"

namespace mixcert {
namespace {

bool is_diagonal(const GaussianMixture& pieces) {
  for (Index i = 0; i < pieces.size(); ++i) {
    if (!pieces.component(i).covariance.is_diagonal()) return false;
  }
  return true;
}

LayerSituation situation_of(const Network& network, const MomentLayerTrace& traced, Index number) {
  const DenseLayer& next = network.layer(number);
  LayerSituation layer;
  layer.is_unmasked = network.mask(number).is_none() && traced.masks.size() == 1;
  layer.is_one_piece = traced.pieces.size() == 1 && traced.surrogates.size() == 1;
  layer.has_independent_neurons = is_diagonal(traced.pieces);
  layer.has_convex_sizes = has_convex_sizes(network.activation(number), next.inputs());
  layer.next_is_independent = next.has_independent_outputs();
  layer.next_is_random = next.has_random_weights();
  layer.next_is_gaussian = next.is_gaussian();
  layer.next_has_noisy_bias = next.bias_variances().minCoeff() > 0.0;
  layer.next_has_noise =
      traced.surrogates.empty() || own_noise(next, traced.surrogates.front()).minCoeff() > 0.0;
  return layer;
}

}  // namespace

Vector own_noise(const DenseLayer& layer, const SurrogateLaw& law) {
  return layer.weight_variances() * law.second + layer.bias_variances();
}

Situation::Situation(const Network& of, const ErrorNorms& norms, const MomentTrace& made)
    : network(of),
      error_norms(norms),
      trace(made),
      depth(of.hidden_count()),
      outputs(of.outputs()),
      components(made.output.size()),
      has_masks(of.has_masks()) {
  for (Index k = 1; k <= depth; ++k) layers.push_back(situation_of(of, traced(k), k));
}

}  // namespace mixcert
