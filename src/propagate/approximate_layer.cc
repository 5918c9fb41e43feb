// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Compression and signatures of one hidden layer.
#include "propagate/approximate_layer.h"

#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/propagate/compression.h"

namespace mixcert {
namespace {

// Below this a metric's entries are underflow, not information.
constexpr double kNoSensitivity = 1e-280;

/// The metrics of all chains, the reference chain's first; none that ignores the layer altogether.
void add_candidate_metrics(const Sensitivity& sensitivity, Index layer, Placement& placement) {
  const auto k = static_cast<std::size_t>(layer - 1);
  std::vector<std::size_t> chains{sensitivity.reference[k]};
  for (std::size_t c = 0; c < sensitivity.metrics.size(); ++c) {
    if (c != chains.front()) chains.push_back(c);
  }
  for (const std::size_t c : chains) {
    const Vector& weights = sensitivity.metrics[c].activation_weights[k];
    if (!(weights.maxCoeff() > kNoSensitivity)) continue;
    placement.metrics.push_back(over_inputs(weights, placement.input_count));
    placement.chains.push_back(c);
  }
}

}  // namespace

Placement place_layer(const Network& network, const Sensitivity& sensitivity, const Options& options,
                      Index layer, Index input_count) {
  Placement placement{{}, network.activation(layer), input_count};
  placement.refine = options.certificate != CertificateMode::Paper;
  if (options.grid == GridPlacement::Uniform) placement.family = uniform_quantizer;
  const bool euclidean = options.certificate == CertificateMode::Paper ||
                         options.certificate == CertificateMode::Expected || options.method == Method::Cross;
  if (!euclidean) add_candidate_metrics(sensitivity, layer, placement);
  // Scalar constants prefer no coordinate, nor does a network that ignores this layer.
  if (placement.metrics.empty()) {
    placement.metrics = {Vector::Ones(network.layer(layer).inputs() * input_count)};
  }
  return placement;
}

LayerTrace approximate_layer(const GaussianMixture& mixture, const LayerSizes& sizes,
                             const Placement& placement, const Options& options, const Services& services) {
  LayerTrace layer;
  if (sizes.components > 0 && sizes.components < mixture.size()) {
    Compressed compressed = compress(mixture, sizes.components, placement.metrics.front(), options.seed);
    layer.before = mixture;
    layer.after = std::move(compressed.mixture);
    layer.plan = std::move(compressed.plan);
    for (const PlanEntry& entry : layer.plan) layer.clusters.push_back(entry.target);
    // Into one component there is only one coupling.
    if (options.certificate == CertificateMode::Paper && options.method == Method::Signature &&
        layer.after.size() > 1) {
      require(
          static_cast<bool>(services.mixture_plan),
          "certificate 'paper' with compression needs Services::mixture_plan (target mixcert::transport)");
      layer.plan = services.mixture_plan(layer.before, layer.after);
    }
  } else {
    layer.after = mixture;
  }
  if (options.method == Method::Cross) return layer;
  LayerGrids grids = layer_grids(layer.after, placement, sizes.points);
  layer.signatures = std::move(grids.signatures);
  if (!placement.chains.empty()) layer.placement_chain = placement.chains[grids.metric];
  return layer;
}

}  // namespace mixcert
