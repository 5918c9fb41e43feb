// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method over all inputs jointly: propagate, evaluate, report.
#include <chrono>
#include <utility>

#include "mixcert/certify/joint_certificate.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "propagate/joint_propagate.h"
#include "propagate/memory_guard.h"
#include "propagate/methods.h"

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

bool joint_moments_fit(const Prepared& prepared, Index input_count) {
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

Result certify_jointly_by_moments(const Prepared& prepared, ConstMatrixRef inputs,
                                  Sealed<JointTrace>& trace) {
  const auto start = std::chrono::steady_clock::now();
  trace = propagate_jointly(prepared.network, inputs, prepared.options, prepared.services);
  const Certificate certificate =
      evaluate_joint_certificate(prepared.network, prepared.sensitivity, prepared.carriers, trace);
  Result result;
  result.method = Method::Moment;
  result.certificate = CertificateMode::Metric;
  result.mixture = input_major(GaussianMixture(trace->output), prepared.network.outputs(), inputs.cols());
  result.layers = layer_reports(certificate);
  attach_certificate(certificate, prepared.options, Shortage::Method, result);
  if (result.termination == Termination::BudgetSpent) {
    result.reason = "the bound " + format_number(result.w2.value) +
                    " is above epsilon, and method moment does not split laws of several inputs jointly";
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace mixcert
