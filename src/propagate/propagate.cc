// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The paper's Algorithm "Gaussian mixture approximation of an SNN"; line numbers in
// propagate() are the paper's. Bounds are computed afterwards from the trace.
#include "mixcert/propagate/propagate.h"

#include <algorithm>
#include <string>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"
#include "mixcert/quantize/signature.h"
#include "propagate/approximate_layer.h"
#include "propagate/first_push.h"
#include "propagate/mask_points.h"
#include "propagate/memory_guard.h"
#include "propagate/settled_output.h"

namespace mixcert {
namespace {

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

/// Dropout on the activations, within the number of points that signatures may have.
void apply_mask(const Network& network, Index k, const Placement& placement, const Options& options,
                Index components, DiscreteLaw& law, LayerTrace& layer) {
  const Mask& mask = network.mask(k);
  if (mask.is_none()) return;
  const Index most = options.signature_size * (options.components > 0 ? options.components : components);
  layer.unperturbed = options.certificate == CertificateMode::Paper && mask.kind() == Mask::Kind::Bernoulli;
  MaskedPoints masked = layer.unperturbed ? mask_like_paper(law, mask, most)
                                          : mask_coordinates(law, mask, placement.metrics.front(), most);
  law = merge_equal_points(masked.law);
  layer.mask_errors = std::move(masked.errors);
  layer.mask_leaves = masked.leaves;
}

}  // namespace

Trace propagate(const Network& network, ConstMatrixRef inputs, const Sensitivity& sensitivity,
                const Options& options, const SizePlanner& planner, const Services& services) {
  require(inputs.rows() == network.inputs(), "inputs: expected " + std::to_string(network.inputs()) +
                                                 " features, got " + std::to_string(inputs.rows()));
  Trace trace;
  trace.input_count = inputs.cols();
  const MemoryGuard guard(options.max_memory_in_gib);

  // Line 1: the first affine layer at the inputs; a Gaussian.
  FirstPoint first = first_point(network, inputs);
  trace.first = std::move(first.trace);
  DiscreteLaw law{first.point, Vector::Ones(1)};
  guard.check_push(network.layer(0), 1, trace.input_count);
  GaussianMixture mixture = push_law(network.layer(0), law, trace.input_count);

  for (Index k = 1; k <= network.hidden_count(); ++k) {
    if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
    // Lines 2 to 4: compression, its coupling, and the signature.
    const LayerSizes sizes = planner(k, mixture);
    const Placement placement = place_layer(network, sensitivity, options, k, trace.input_count);
    guard.check_signature(mixture, sizes, options.method == Method::Cross);
    LayerTrace layer = approximate_layer(mixture, sizes, placement, options, services);
    law = collect_points(layer, options, sizes.points);
    // Line 5: activation and affine layer; points that the activation makes equal are one.
    law = merge_equal_points({network.activation(k).apply(law.points, trace.input_count), law.weights});
    apply_mask(network, k, placement, options, mixture.size(), law, layer);
    layer.points = law.weights.size();
    layer.second_moments = (1.0 + rounding_gamma(layer.points + 8)) * (law.points.cwiseAbs2() * law.weights);
    guard.check_push(network.layer(k), layer.points, trace.input_count);
    mixture = push_law(network.layer(k), law, trace.input_count);
    trace.layers.push_back(std::move(layer));
  }
  // Line 8; lines 6 and 7, the bound, are evaluate_certificate's.
  trace.settled = settle_covariances(mixture);
  trace.output = std::move(mixture);
  return trace;
}

}  // namespace mixcert
