// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method: propagate, evaluate, report.
#include <chrono>
#include <utility>

#include "mixcert/certify/moment_certificate.h"
#include "mixcert/propagate/moment_propagate.h"
#include "propagate/methods.h"
#include "propagate/split_planner.h"

namespace mixcert {
namespace {

std::vector<LayerReport> layer_reports(const MomentTrace& trace, const Certificate& certificate) {
  std::vector<LayerReport> reports;
  for (std::size_t k = 0; k < trace.layers.size(); ++k) {
    const LayerTerms& terms = certificate.layers[k];
    LayerReport report;
    report.layer = static_cast<Index>(k) + 1;
    report.compression = terms.compression.upper;
    report.local = terms.local.upper;
    report.gain = terms.gain;
    report.components = trace.layers[k].after.size();
    report.points = trace.layers[k].pieces.size();
    report.metric = terms.metric;
    reports.push_back(std::move(report));
  }
  return reports;
}

struct Attempt {
  MomentTrace trace;
  Certificate certificate;
};

Attempt attempt(const Prepared& prepared, ConstVectorRef input, Index budget) {
  const SplitPlanner splits(prepared, budget);
  MomentTrace trace = propagate_moments(
      prepared.network, input,
      [&](Index layer, const GaussianMixture& mixture) { return splits.plan(layer, mixture); },
      prepared.services);
  Certificate certificate =
      evaluate_moment_certificate(prepared.network, prepared.sensitivity, prepared.carriers, trace);
  return {std::move(trace), std::move(certificate)};
}

}  // namespace

Result certify_by_moments(const Prepared& prepared, ConstVectorRef input, MomentTrace& trace) {
  const auto start = std::chrono::steady_clock::now();
  const Options& options = prepared.options;
  // Budgets 1, 2, 4, ...: the best of all, so that a larger budget never gives a larger bound.
  const Index most = options.epsilon ? options.max_components : options.pieces;
  const double wanted = options.epsilon.value_or(0.0);
  Attempt best = attempt(prepared, input, 1);
  bool budget_spent = false;
  for (Index budget = 2; best.certificate.w2.value > wanted && prepared.network.hidden_count() > 0;
       budget *= 2) {
    budget_spent = budget > most;
    if (budget_spent) break;
    Attempt next = attempt(prepared, input, budget);
    if (next.certificate.w2.value < best.certificate.w2.value) best = std::move(next);
  }
  Result result;
  result.method = Method::Moment;
  result.certificate = CertificateMode::Metric;
  result.mixture = best.trace.output;
  result.layers = layer_reports(best.trace, best.certificate);
  attach_certificate(best.certificate, options, budget_spent, result);
  trace = std::move(best.trace);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace mixcert
