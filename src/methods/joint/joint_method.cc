// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method over all inputs jointly: propagate, evaluate, report.
#include "methods/joint/joint_method.h"

#include <utility>

#include "methods/joint/joint_certificate.h"
#include "methods/joint/joint_tracer.h"
#include "methods/memory_guard.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"

namespace mixcert {
namespace {

std::vector<LayerReport> layer_reports(const Certificate& certificate) {
  std::vector<LayerReport> reports;
  for (std::size_t k = 0; k < certificate.layers.size(); ++k) {
    const LayerTerms& terms = certificate.layers[k];
    LayerReport report;
    report.layer = static_cast<Index>(k) + 1;
    report.local = terms.local.upper;
    report.gain = terms.gain;
    report.components = 1;
    report.points = 1;
    report.metric = terms.metric;
    report.theorem = "J.1";
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace

bool JointMethod::fits(const Prepared& prepared, Index input_count) {
  const MemoryGuard guard(prepared.options.max_memory_in_gib);
  try {
    for (Index k = 1; k <= prepared.network.hidden_count(); ++k) {
      guard.check_joint_moments(prepared.network.layer(k), input_count);
    }
  } catch (const ResourceError&) {
    return false;
  }
  return true;
}

std::string JointMethod::refusal(const Network& network) {
  std::string gap = network.correlated_layer();
  if (!gap.empty()) return gap;
  if (network.has_masks()) return "the network has dropout";
  if (!network.is_gaussian()) return "the network has weights that are not Gaussian";
  return "";
}

Certified JointMethod::certify(ConstMatrixRef inputs) const {
  const Stopwatch watch;
  const Network& network = prepared_.network;
  Sealed<JointTrace> trace = propagate_jointly(network, inputs, prepared_.options, prepared_.services);
  Certified made;
  made.certificate =
      evaluate_joint_certificate(network, *prepared_.sensitivity, *prepared_.error_norms, trace);
  Result& result = made.result;
  result.method = Method::Moment;
  result.certificate = CertificateMode::Metric;
  result.mixture = input_major(GaussianMixture(trace->output), network.outputs(), inputs.cols());
  result.layers = layer_reports(made.certificate);
  attach_certificate(made.certificate, prepared_.options, Shortage::Method, result);
  if (result.termination == Termination::BudgetSpent) {
    result.reason = "the bound " + format_number(result.w2.value) +
                    " is above epsilon, and method moment does not split laws of several inputs jointly";
  }
  made.trace = std::move(trace);
  result.seconds = watch.seconds();
  return made;
}

BoundContributions JointMethod::explain(const Certified& made) const {
  return joint_contributions(prepared_.network, *prepared_.error_norms,
                             std::get<Sealed<JointTrace>>(made.trace), made.certificate);
}

}  // namespace mixcert
