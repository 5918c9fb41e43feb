// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method: propagate, evaluate, report.
#include <algorithm>
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
    report.theorem = terms.theorem;
    reports.push_back(std::move(report));
  }
  return reports;
}

struct Attempt {
  Sealed<MomentTrace> trace;
  Certificate certificate;
};

Attempt certified(const Prepared& prepared, Sealed<MomentTrace> trace) {
  Certificate certificate =
      evaluate_moment_certificate(prepared.network, prepared.sensitivity, prepared.carriers, trace);
  if (prepared.sharpen)
    certificate = sharpened_certificate(prepared.network, prepared.carriers, trace, std::move(certificate));
  return {std::move(trace), std::move(certificate)};
}

/// At most `budget` pieces in every layer.
MomentPlanner planner(const Prepared& prepared, Index budget) {
  return interruptible(
      [splits = SplitPlanner(prepared, budget)](Index layer, const GaussianMixture& mixture) {
        return splits.plan(layer, mixture);
      },
      prepared.services);
}

/// 2, 3, 4, 6, 8, 12, ... up to `most`; with `last`, also `most` itself. Without it the budgets for a smaller
/// `most` are among those for a larger one.
std::vector<Index> split_budgets(Index most, bool last) {
  std::vector<Index> budgets;
  for (Index power = 2; power <= most; power *= 2) {
    budgets.push_back(power);
    if (power + power / 2 <= most) budgets.push_back(power + power / 2);
  }
  if (last && most > 1 && budgets.back() != most) budgets.push_back(most);
  return budgets;
}

Index most_pieces(const MomentTrace& trace) {
  Index most = 1;
  for (const MomentLayerTrace& layer : trace.layers) most = std::max(most, layer.pieces.size());
  return most;
}

/// The best of growing budgets, so that a larger one never gives a larger bound; `best` is that of budget 1.
Result best_result(const Prepared& prepared, const MomentTracer& tracer, Index input, Attempt best,
                   Sealed<MomentTrace>& trace) {
  const Options& options = prepared.options;
  const Index most = options.epsilon ? options.max_components : options.pieces;
  const double wanted = options.epsilon.value_or(0.0);
  Shortage shortage = Shortage::None;
  for (Index budget : split_budgets(most, options.epsilon.has_value())) {
    if (!(best.certificate.w2.value > wanted) || prepared.network.hidden_count() == 0) break;
    Attempt next = certified(prepared, tracer.trace(input, planner(prepared, budget)));
    shortage = budget < most                         ? Shortage::None
               : 2 * most_pieces(*next.trace) > most ? Shortage::Budget
                                                     : Shortage::Method;
    if (next.certificate.w2.value < best.certificate.w2.value) best = std::move(next);
  }
  Result result;
  result.method = Method::Moment;
  result.certificate = CertificateMode::Metric;
  result.mixture = best.trace->output;
  result.layers = layer_reports(*best.trace, best.certificate);
  attach_certificate(best.certificate, options, shortage, result);
  trace = std::move(best.trace);
  return result;
}

double seconds_from(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void certify_separately_by_moments(const Prepared& prepared, ConstMatrixRef inputs, const MomentSink& sink) {
  const auto start = std::chrono::steady_clock::now();
  const MomentTracer tracer(prepared.network, inputs);
  std::vector<Attempt> attempts;
  for (Sealed<MomentTrace>& trace : tracer.trace_all(planner(prepared, 1))) {
    attempts.push_back(certified(prepared, std::move(trace)));
  }
  const double shared = seconds_from(start) / static_cast<double>(attempts.size());
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const auto own = std::chrono::steady_clock::now();
    const auto input = static_cast<Index>(i);
    Sealed<MomentTrace> trace;
    Result result = best_result(prepared, tracer, input, std::move(attempts[i]), trace);
    result.seconds = shared + seconds_from(own);
    sink(input, std::move(result), std::move(trace));
  }
}

Result certify_by_moments(const Prepared& prepared, ConstVectorRef input, Sealed<MomentTrace>& trace) {
  Result only;
  certify_separately_by_moments(prepared, input, [&](Index, Result&& result, Sealed<MomentTrace>&& made) {
    only = std::move(result);
    trace = std::move(made);
  });
  return only;
}

}  // namespace mixcert
