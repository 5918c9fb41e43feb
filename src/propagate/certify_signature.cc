// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The signature methods: propagate, evaluate, report.
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "mixcert/propagate/epsilon_planner.h"
#include "mixcert/propagate/propagate.h"
#include "propagate/methods.h"

namespace mixcert {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<LayerReport> layer_reports(const Trace& trace, const Certificate* certificate) {
  std::vector<LayerReport> reports;
  for (std::size_t k = 0; k < trace.layers.size(); ++k) {
    LayerReport report;
    report.layer = static_cast<Index>(k) + 1;
    report.components = trace.layers[k].after.size();
    report.points = trace.layers[k].points;
    report.compression = certificate == nullptr ? kNone : certificate->layers[k].compression.upper;
    report.local = certificate == nullptr ? kNone : certificate->layers[k].local.upper;
    report.gain = certificate == nullptr ? kNone : certificate->layers[k].gain;
    if (certificate != nullptr) {
      report.metric = certificate->layers[k].metric;
      report.theorem = "S.1";
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

/// `best` names the simplest mode that gives the same number.
CertificateMode mode_used(CertificateMode asked, const Certificate& certificate) {
  if (asked != CertificateMode::Best) return asked;
  for (const LayerTerms& layer : certificate.layers) {
    if (layer.metric != "expected") return CertificateMode::Metric;
  }
  return CertificateMode::Expected;
}

}  // namespace

Result certify_by_signatures(const Prepared& prepared, ConstMatrixRef inputs, Sealed<Trace>& trace) {
  const auto start = std::chrono::steady_clock::now();
  const Network& network = prepared.network;
  const Options& options = prepared.options;
  const Services& services = prepared.services;
  const Sensitivity& sensitivity = prepared.sensitivity;
  EpsilonPlanner epsilon(network, sensitivity, options, services, inputs.cols());
  const SizePlanner planner = [&](Index layer, const GaussianMixture& mixture) {
    if (options.epsilon) return epsilon.plan(layer, mixture);
    return LayerSizes{options.components, options.signature_size};
  };
  trace = propagate(network, inputs, sensitivity, options, planner, services);

  Result result;
  result.method = options.method == Method::Cross ? Method::Cross : Method::Signature;
  result.certificate = options.certificate;
  result.mixture = input_major(trace->output, network.outputs(), inputs.cols());
  if (options.method == Method::Cross) {
    result.w2 = Bound::none(Norm::W2);
    result.w1 = Bound::none(Norm::W1);
    result.relative_w2 = kNone;
    result.layers = layer_reports(*trace, nullptr);
    result.reason = "method cross carries no bound";
  } else {
    const Certificate certificate =
        evaluate_certificate(network, sensitivity, trace, certificate_form(options.certificate));
    result.layers = layer_reports(*trace, &certificate);
    result.certificate = mode_used(options.certificate, certificate);
    attach_certificate(certificate, options, epsilon.budget_spent() ? Shortage::Budget : Shortage::None,
                       result);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace mixcert
