// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method: propagate, evaluate, report.
#include "methods/moment/moment_method.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "methods/moment/moment_certificate.h"
#include "methods/moment/moment_tracer.h"
#include "methods/moment/plan/split_planner.h"
#include "mixcert/core/error.h"

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
  std::optional<GaussianMixture>
      fitted;  ///< what the certificate is about, where it is not the trace's output
  std::shared_ptr<const OutputDistribution> law;  ///< of the network's one output, where it is computed

  [[nodiscard]] const GaussianMixture& output() const { return fitted ? *fitted : trace->output; }
};

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

// People read deviations before they read a bound (returned_mixture.h), and second order would cost as much.
constexpr double kWorthOfMoments = 1.05;

/// Components are those of the output; with epsilon, as many as it takes.
OutputRequest request(const Options& options) {
  const Index most = options.components == 0 ? options.max_components : options.components;
  if (!options.epsilon) return {most, 0.0, options.method == Method::Auto ? kWorthOfMoments : 1.0};
  return {std::max(most, options.max_components), *options.epsilon};
}

Attempt certified(const Prepared& prepared, const TheoremTable& theorems, Sealed<MomentTrace> trace) {
  Certificate certificate =
      evaluate_moment_certificate(prepared.network, *prepared.sensitivity, *prepared.error_norms, trace);
  SharpenedOutput sharpened = sharpened_output(theorems, prepared.network, *prepared.error_norms, trace,
                                               request(prepared.options), std::move(certificate));
  return {std::move(trace), std::move(sharpened.certificate), std::move(sharpened.mixture),
          std::move(sharpened.law)};
}

/// The best of growing budgets, so that a larger one never gives a larger bound; `best` is that of budget 1.
Certified best_result(const Prepared& prepared, const TheoremTable& theorems, const MomentTracer& tracer,
                      Index input, Attempt best) {
  const Options& options = prepared.options;
  const Index most = options.epsilon ? options.max_components : options.pieces;
  const double wanted = options.epsilon.value_or(0.0);
  Shortage shortage = Shortage::None;
  for (Index budget : split_budgets(most, options.epsilon.has_value())) {
    if (!(best.certificate.w2.value > wanted) || prepared.network.hidden_count() == 0) break;
    Attempt next = certified(prepared, theorems, tracer.trace(input, planner(prepared, budget)));
    shortage = budget < most                         ? Shortage::None
               : 2 * most_pieces(*next.trace) > most ? Shortage::Budget
                                                     : Shortage::Method;
    if (!next.law) next.law = best.law;  // which is the network's, whatever stands for it
    if (next.certificate.w2.value < best.certificate.w2.value) best = std::move(next);
  }
  Certified made;
  made.result.method = Method::Moment;
  made.result.certificate = CertificateMode::Metric;
  made.result.mixture = best.output();
  made.is_fitted = best.fitted.has_value();
  made.result.distribution = std::move(best.law);
  made.result.layers = layer_reports(*best.trace, best.certificate);
  made.shortage = shortage;
  attach_certificate(best.certificate, options, shortage, made.result);
  made.certificate = std::move(best.certificate);
  made.trace = std::move(best.trace);
  return made;
}

}  // namespace

Certified MomentMethod::certify(ConstMatrixRef inputs) const {
  require(inputs.cols() == 1, "moment method: expected one input, got " + std::to_string(inputs.cols()));
  Certified only;
  certify_each(inputs, [&](Index, Certified&& made) { only = std::move(made); });
  return only;
}

void MomentMethod::certify_each(ConstMatrixRef inputs,
                                const std::function<void(Index, Certified&&)>& sink) const {
  const Stopwatch together;
  const MomentTracer tracer(prepared_.network, inputs);
  std::vector<Attempt> attempts;
  for (Sealed<MomentTrace>& trace : tracer.trace_all(planner(prepared_, 1))) {
    attempts.push_back(certified(prepared_, theorems_, std::move(trace)));
  }
  const double shared = together.seconds() / static_cast<double>(attempts.size());
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const Stopwatch own;
    const auto input = static_cast<Index>(i);
    Certified made = best_result(prepared_, theorems_, tracer, input, std::move(attempts[i]));
    made.result.seconds = shared + own.seconds();
    sink(input, std::move(made));
  }
}

BoundContributions MomentMethod::explain(const Certified& made) const {
  return moment_contributions(theorems_, prepared_.network, *prepared_.error_norms,
                              std::get<Sealed<MomentTrace>>(made.trace), made.certificate);
}

}  // namespace mixcert
