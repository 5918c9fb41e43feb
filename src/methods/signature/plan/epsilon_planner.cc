// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sizes by the convergence theorem, docs/theory/convergence.md (E.1).
#include <algorithm>
#include <utility>

#include "methods/signature/plan/signature_plan.h"
#include "methods/signature/signature_certificate.h"
#include "mixcert/core/error.h"

namespace mixcert {
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
