// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The paper's Algorithm "Gaussian mixture approximation of an SNN"; line numbers in trace_signatures() are
// the paper's. Bounds are computed afterwards from the trace.
#include <utility>

#include "certificate/first_push.h"
#include "certificate/rounding_terms.h"
#include "certificate/seal.h"
#include "methods/signature/signature_trace.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

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

/// Lines 2 to 4: compression, its coupling, and the signatures.
SignatureLayerTrace approximated(const GaussianMixture& mixture, const SignatureChoices& choices) {
  SignatureLayerTrace layer;
  if (choices.reduction.is_empty()) {
    layer.after = mixture;
  } else {
    require(choices.reduction->before.is_copy_of(mixture),
            "signature method: the reduction is that of another mixture");
    static_cast<CompressionTrace&>(layer) = *choices.reduction;
  }
  layer.placement_chain = choices.placement_chain;
  if (choices.cross_points) return layer;
  require(static_cast<Index>(choices.grids.size()) == layer.after.size(),
          "signature method: expected one grid for each component");
  for (Index j = 0; j < layer.after.size(); ++j) {
    layer.signatures.push_back(
        make_signature(layer.after.component(j).covariance, choices.grids[static_cast<std::size_t>(j)]));
  }
  return layer;
}

/// All signature points of a layer, component by component.
DiscreteLaw collect_points(const SignatureLayerTrace& layer, const SignatureChoices& choices) {
  std::vector<DiscreteLaw> laws;
  Index count = 0;
  for (Index j = 0; j < layer.after.size(); ++j) {
    const Gaussian& component = layer.after.component(j);
    laws.push_back(choices.cross_points
                       ? cross_signature(component, *choices.cross_points)
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

/// Dropout on the activations.
void apply_mask(const Mask& mask, const MaskPointChoices& choices, DiscreteLaw& law,
                SignatureLayerTrace& layer) {
  if (mask.is_none()) return;
  require(choices.weights.size() == law.points.rows() && choices.weights.allFinite(),
          "signature method: expected one finite weight of masks for each coordinate");
  layer.unperturbed = choices.unperturbed && mask.kind() == Mask::Kind::Bernoulli;
  MaskedPoints masked = layer.unperturbed ? mask_like_paper(law, mask, choices.most_points)
                                          : mask_coordinates(law, mask, choices.weights, choices.most_points);
  law = merge_equal_points(masked.law);
  layer.mask_errors = std::move(masked.errors);
  layer.mask_leaves = masked.leaves;
}

}  // namespace

Sealed<SignatureLayerTrace> trace_signature_layer(const GaussianMixture& mixture,
                                                  const SignatureChoices& choices) {
  SignatureLayerTrace layer = approximated(mixture, choices);
  // Points are not merged here; their number enters the rounding of weights (R.6).
  for (const GridSignature& signature : layer.signatures) layer.points += signature.point_count();
  return Seal::on(std::move(layer));
}

Sealed<SignatureTrace> trace_signatures(const Network& network, ConstMatrixRef inputs,
                                        const SignaturePlanner& planner) {
  SignatureTrace trace;
  trace.input_count = inputs.cols();
  // Line 1: the first affine layer at the inputs; a Gaussian.
  FirstPoint first = first_point(network, inputs);
  trace.first = std::move(first.trace);
  GaussianMixture mixture = push_law(network.layer(0), {first.point, Vector::Ones(1)}, trace.input_count);
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const SignatureChoices choices = planner.choose(k, mixture);
    SignatureLayerTrace layer = approximated(mixture, choices);
    // Line 5: activation and affine layer; points that the activation makes equal are one.
    DiscreteLaw law = collect_points(layer, choices);
    law = merge_equal_points({network.activation(k).apply(law.points, trace.input_count), law.weights});
    apply_mask(network.mask(k), choices.masks, law, layer);
    layer.points = law.weights.size();
    layer.second_moments = (1.0 + rounding_gamma(layer.points + 8)) * (law.points.cwiseAbs2() * law.weights);
    if (planner.before_push) planner.before_push(k, layer.points);
    mixture = push_law(network.layer(k), law, trace.input_count);
    trace.layers.push_back(std::move(layer));
  }
  // Line 8; lines 6 and 7, the bound, are evaluate_signature_certificate's.
  trace.settled = settle_covariances(mixture);
  trace.output = std::move(mixture);
  return Seal::on(std::move(trace));
}

}  // namespace mixcert
