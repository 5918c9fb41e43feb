// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method's propagation, docs/theory/moment-method.md (H.4), for a block of inputs layer by layer.
#include "mixcert/propagate/moment_propagate.h"

#include <utility>

#include "certify/masked_law.h"
#include "certify/moment_error.h"
#include "mixcert/core/error.h"
#include "propagate/moment_block.h"
#include "propagate/settled_output.h"
#include "propagate/surrogate_push.h"

namespace mixcert {
namespace {

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
  return std::move(propagate_block(network, push_first_separately(network, input), planner, services)[0]);
}

std::vector<MomentTrace> propagate_block(const Network& network, const std::vector<FirstPush>& firsts,
                                         const MomentPlanner& planner, const Services& services) {
  std::vector<MomentTrace> traces(firsts.size());
  std::vector<GaussianMixture> mixtures;
  // The first affine layer at the input; a Gaussian.
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    traces[i].first = firsts[i].trace;
    mixtures.emplace_back(firsts[i].law);
  }
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
      traces[i].layers.push_back(planner(k, std::move(mixtures[i])));
      add_surrogates(network.activation(k), network.mask(k), traces[i].layers.back());
    }
    mixtures = push_layers(network.layer(k), traces);
  }
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    traces[i].settled = settle_covariances(mixtures[i]);
    traces[i].output = std::move(mixtures[i]);
  }
  return traces;
}

}  // namespace mixcert
