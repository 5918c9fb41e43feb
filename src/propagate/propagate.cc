// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The paper's Algorithm "Gaussian mixture approximation of an SNN"; line numbers in
// propagate() are the paper's. Bounds are computed afterwards from the trace.
#include "mixcert/propagate/propagate.h"

#include <algorithm>
#include <string>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/propagate/compression.h"
#include "mixcert/quantize/signature.h"
#include "propagate/memory_guard.h"

namespace mixcert {
namespace {

// Metrics carry a floor of 1e-290 against underflow.
constexpr double kNoSensitivity = 1e-280;

/// Inputs (columns) as one point: neuron-major over inputs.
Vector stack_inputs(ConstMatrixRef inputs) {
  const Matrix by_neuron = inputs.transpose();
  return Eigen::Map<const Vector>(by_neuron.data(), by_neuron.size());
}

Vector over_inputs(ConstVectorRef per_neuron, Index input_count) {
  return per_neuron.transpose().replicate(input_count, 1).reshaped();
}

/// The mixture of the layer's outputs when its activations follow a discrete law.
GaussianMixture push_law(const DenseLayer& layer, const DiscreteLaw& law, Index input_count) {
  DenseLayer::Pushed pushed = layer.push(law.points, input_count);
  std::vector<Gaussian> components;
  components.reserve(pushed.covariances.size());
  for (Index p = 0; p < law.points.cols(); ++p) {
    components.push_back({pushed.means.col(p), std::move(pushed.covariances[static_cast<std::size_t>(p)])});
  }
  return {law.weights / law.weights.sum(), std::move(components)};
}

/// All signature points of a layer, component by component.
DiscreteLaw collect_points(const LayerTrace& layer, const Options& options, Index points_per_component) {
  std::vector<DiscreteLaw> laws;
  Index count = 0;
  for (Index j = 0; j < layer.after.size(); ++j) {
    const Gaussian& component = layer.after.component(j);
    laws.push_back(options.method == Method::Cross
                       ? cross_signature(component, points_per_component)
                       : layer.signatures[static_cast<std::size_t>(j)].points(component.mean));
    laws.back().weights *= layer.after.weights()(j);
    count += laws.back().weights.size();
  }
  DiscreteLaw all{Matrix(layer.after.dimension(), count), Vector(count)};
  Index column = 0;
  for (const DiscreteLaw& law : laws) {
    all.points.middleCols(column, law.points.cols()) = law.points;
    all.weights.segment(column, law.points.cols()) = law.weights;
    column += law.points.cols();
  }
  return all;
}

}  // namespace

Vector placement_metric(const Sensitivity& sensitivity, const Options& options, Index layer) {
  const MetricChain& chain = sensitivity.reference_chain(layer);
  const Vector& weights = chain.activation_weights[static_cast<std::size_t>(layer - 1)];
  const bool euclidean = options.certificate == CertificateMode::Paper ||
                         options.certificate == CertificateMode::Expected || options.method == Method::Cross;
  // A network that ignores this layer altogether gives no direction to prefer.
  if (euclidean || !(weights.maxCoeff() > kNoSensitivity)) return Vector::Ones(weights.size());
  return weights;
}

LayerTrace approximate_layer(const GaussianMixture& mixture, const LayerSizes& sizes, ConstVectorRef metric,
                             const Options& options, const Services& services) {
  LayerTrace layer;
  if (sizes.components > 0 && sizes.components < mixture.size()) {
    Compressed compressed = compress(mixture, sizes.components, metric, options.seed);
    layer.before = mixture;
    layer.after = std::move(compressed.mixture);
    layer.plan = std::move(compressed.plan);
    if (options.certificate == CertificateMode::Paper && options.method == Method::Signature) {
      require(
          static_cast<bool>(services.mixture_plan),
          "certificate 'paper' with compression needs Services::mixture_plan (target mixcert::transport)");
      layer.plan = services.mixture_plan(layer.before, layer.after);
    }
  } else {
    layer.after = mixture;
  }
  if (options.method == Method::Cross) return layer;
  const QuantizerFamily family =
      options.grid == GridPlacement::Uniform ? uniform_quantizer : optimal_quantizer;
  for (Index j = 0; j < layer.after.size(); ++j) {
    layer.signatures.push_back(
        grid_signature(layer.after.component(j).covariance, metric, sizes.points, family));
  }
  return layer;
}

Trace propagate(const Network& network, ConstMatrixRef inputs, const Sensitivity& sensitivity,
                const Options& options, const SizePlanner& planner, const Services& services) {
  require(inputs.rows() == network.inputs(), "inputs: expected " + std::to_string(network.inputs()) +
                                                 " features, got " + std::to_string(inputs.rows()));
  Trace trace;
  trace.input_count = inputs.cols();
  const MemoryGuard guard(options.max_memory_in_gib);

  // Line 1: the first affine layer at the inputs; a Gaussian.
  const Vector stacked = stack_inputs(inputs);
  DiscreteLaw law{network.activation(0).apply(stacked), Vector::Ones(1)};
  trace.input_norm = std::max(stacked.norm(), law.points.norm());
  guard.check_push(network.layer(0), 1, trace.input_count);
  GaussianMixture mixture = push_law(network.layer(0), law, trace.input_count);

  for (Index k = 1; k <= network.hidden_count(); ++k) {
    if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
    // Lines 2 to 4: compression, its coupling, and the signature.
    const LayerSizes sizes = planner(k, mixture);
    const Vector metric = over_inputs(placement_metric(sensitivity, options, k), trace.input_count);
    guard.check_signature(mixture, sizes, options.method == Method::Cross);
    LayerTrace layer = approximate_layer(mixture, sizes, metric, options, services);
    law = collect_points(layer, options, sizes.points);
    // Line 5: activation and affine layer; points that the activation makes equal are one.
    law = merge_equal_points({network.activation(k).apply(law.points), law.weights});
    layer.points = law.weights.size();
    guard.check_push(network.layer(k), layer.points, trace.input_count);
    mixture = push_law(network.layer(k), law, trace.input_count);
    trace.layers.push_back(std::move(layer));
  }
  // Line 8; lines 6 and 7, the bound, are evaluate_certificate's.
  trace.output = std::move(mixture);
  return trace;
}

}  // namespace mixcert
