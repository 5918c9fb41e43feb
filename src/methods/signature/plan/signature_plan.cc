// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Compression and grids of one hidden layer, and choices for every layer of the paper's algorithm, within the
// limits of memory and time or for a wanted bound.
#include "methods/signature/plan/signature_plan.h"

#include <algorithm>
#include <utility>

#include "methods/compression.h"
#include "methods/memory_guard.h"
#include "methods/signature/signature_certificate.h"
#include "mixcert/core/error.h"

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

SignatureChoices approximate_layer(const GaussianMixture& mixture, const LayerSizes& sizes,
                                   const Placement& placement, const Options& options,
                                   const Services& services) {
  SignatureChoices choices;
  if (sizes.components > 0 && sizes.components < mixture.size()) {
    choices.reduction = compress(mixture, sizes.components, placement.metrics.front(), options.seed);
    // Into one component there is only one coupling.
    if (options.certificate == CertificateMode::Paper && options.method == Method::Signature &&
        choices.reduction->after.size() > 1) {
      require(
          static_cast<bool>(services.mixture_plan),
          "certificate 'paper' with compression needs Services::mixture_plan (target mixcert::transport)");
      choices.reduction =
          with_plan(choices.reduction, services.mixture_plan(mixture, choices.reduction->after));
    }
  }
  if (options.method == Method::Cross) {
    choices.cross_points = sizes.points;
    return choices;
  }
  const GaussianMixture& reduced = choices.reduction.is_empty() ? mixture : choices.reduction->after;
  LayerGrids grids = layer_grids(reduced, placement, sizes.points);
  choices.grids = std::move(grids.axes);
  if (!placement.chains.empty()) choices.placement_chain = placement.chains[grids.metric];
  return choices;
}

Sealed<SignatureTrace> propagate(const Network& network, ConstMatrixRef inputs,
                                 const Sensitivity& sensitivity, const Options& options,
                                 const SizePlanner& planner, const Services& services) {
  const MemoryGuard guard(options.max_memory_in_gib);
  guard.check_push(network.layer(0), 1, inputs.cols());
  const auto choose = [&](Index k, const GaussianMixture& mixture) {
    if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
    const LayerSizes sizes = planner(k, mixture);
    const Placement placement = place_layer(network, sensitivity, options, k, inputs.cols());
    guard.check_signature(mixture, sizes.components, sizes.points, options.method == Method::Cross);
    SignatureChoices choices = approximate_layer(mixture, sizes, placement, options, services);
    // Masks are enumerated within the number of points that signatures may have.
    const Index components = options.components > 0 ? options.components : mixture.size();
    choices.masks = {placement.metrics.front(), options.signature_size * components,
                     options.certificate == CertificateMode::Paper};
    return choices;
  };
  const auto before_push = [&](Index k, Index points) {
    guard.check_push(network.layer(k), points, inputs.cols());
  };
  return trace_signatures(network, inputs, {choose, before_push});
}

// Sizes by the convergence theorem, docs/theory/convergence.md (E.1).

namespace {

// The rounding of the first layer's push is not planned for; this much of epsilon is left for it.
constexpr double kReserve = 1e-4;
// Share of a layer's allowance that compression may use.
constexpr double kCompressionShare = 0.5;
// Component counts tried are 1, 4, 16, ...: each try clusters the mixture anew.
constexpr Index kComponentGrowth = 4;

}  // namespace

CertificateForm certificate_form(CertificateMode mode) {
  switch (mode) {
    case CertificateMode::Paper:
      return CertificateForm::Paper;
    case CertificateMode::Expected:
      return CertificateForm::Expected;
    default:
      return CertificateForm::Metric;
  }
}

EpsilonPlanner::EpsilonPlanner(const Network& network, const Sensitivity& sensitivity, const Options& options,
                               const Services& services, Index input_count)
    : network_(network),
      sensitivity_(sensitivity),
      options_(options),
      services_(services),
      input_count_(input_count) {}

Sealed<SignatureLayerTrace> EpsilonPlanner::approximate(Index layer, const GaussianMixture& mixture,
                                                        const LayerSizes& sizes) const {
  if (services_.cancel != nullptr && services_.cancel->load()) throw Interrupted("interrupted");
  const Placement placement = place_layer(network_, sensitivity_, options_, layer, input_count_);
  return trace_signature_layer(mixture, approximate_layer(mixture, sizes, placement, options_, services_));
}

LayerTerms EpsilonPlanner::terms(Index layer, const Sealed<SignatureLayerTrace>& trace) const {
  return evaluate_signature_layer(network_, sensitivity_, trace, layer, input_count_,
                                  certificate_form(options_.certificate));
}

EpsilonPlanner::Reduced EpsilonPlanner::reduce(Index layer, const GaussianMixture& mixture,
                                               double share) const {
  const Index most = std::min(mixture.size(), options_.max_components);
  Reduced reduced{mixture, most, 0.0};
  for (Index count = 1; count < most; count *= kComponentGrowth) {
    const Sealed<SignatureLayerTrace> trace = approximate(layer, mixture, {count, 1});
    const double cost = terms(layer, trace).compression.upper;
    if (cost <= kCompressionShare * share) return {trace->after, count, cost};
  }
  return reduced;
}

Index EpsilonPlanner::choose_points(Index layer, const Reduced& reduced, double share) {
  // The mixture is compressed already, so only the local term is looked at.
  const auto fits = [&](Index points) {
    const Sealed<SignatureLayerTrace> trace = approximate(layer, reduced.mixture, {0, points});
    return reduced.cost + terms(layer, trace).local.upper <= share;
  };
  const Index most = std::max<Index>(1, options_.max_components / reduced.components);
  Index low = 0;  // does not fit
  Index high = 1;
  bool found = fits(high);
  while (!found && high < most) {
    low = high;
    high = std::min(2 * high, most);
    found = fits(high);
  }
  if (!found) {
    budget_spent_ = true;
    return most;
  }
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

LayerSizes EpsilonPlanner::plan(Index layer, const GaussianMixture& mixture) {
  const double share = *options_.epsilon * (1.0 - kReserve) / static_cast<double>(network_.hidden_count());
  const Reduced reduced = reduce(layer, mixture, share);
  return {reduced.components, choose_points(layer, reduced, share)};
}

}  // namespace mixcert
