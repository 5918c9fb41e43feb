// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sizes by the convergence theorem, docs/theory/convergence.md (E.1).
#include "mixcert/propagate/epsilon_planner.h"

#include <algorithm>

namespace mixcert {
namespace {

// Rounding is not planned for; this much of epsilon is left for it.
constexpr double kReserve = 1e-5;
// Share of a layer's allowance that compression may use.
constexpr double kCompressionShare = 0.5;

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

LayerTerms EpsilonPlanner::terms(Index layer, const GaussianMixture& mixture, const LayerSizes& sizes) const {
  const Vector per_neuron = placement_metric(sensitivity_, options_, layer);
  const Vector metric = per_neuron.transpose().replicate(input_count_, 1).reshaped();
  LayerTrace trace = approximate_layer(mixture, sizes, metric, options_, services_);
  return evaluate_layer(network_, sensitivity_, trace, layer, input_count_,
                        certificate_form(options_.certificate));
}

Index EpsilonPlanner::choose_components(Index layer, const GaussianMixture& mixture, double share) {
  const Index most = std::min(mixture.size(), options_.max_components);
  for (Index count = 1; count < most; count *= 2) {
    if (terms(layer, mixture, {count, 1}).compression.upper <= kCompressionShare * share) return count;
  }
  return most;
}

Index EpsilonPlanner::choose_points(Index layer, const GaussianMixture& mixture, Index components,
                                    double share) {
  const auto fits = [&](Index points) {
    const LayerTerms t = terms(layer, mixture, {components, points});
    return t.compression.upper + t.local.upper <= share;
  };
  const Index most = std::max<Index>(1, options_.max_components / components);
  Index high = 1;
  while (high < most && !fits(high)) high = std::min(2 * high, most);
  if (!fits(high)) {
    budget_spent_ = true;
    return most;
  }
  Index low = high / 2;  // does not fit, or is zero
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

LayerSizes EpsilonPlanner::plan(Index layer, const GaussianMixture& mixture) {
  const double share = *options_.epsilon * (1.0 - kReserve) / static_cast<double>(network_.hidden_count());
  const Index components = choose_components(layer, mixture, share);
  return {components, choose_points(layer, mixture, components, share)};
}

}  // namespace mixcert
