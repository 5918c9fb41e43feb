// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The signature methods: propagate, evaluate, report.
#include "methods/signature/signature_method.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "methods/signature/plan/signature_plan.h"
#include "methods/signature/signature_certificate.h"

namespace mixcert {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<LayerReport> layer_reports(const SignatureTrace& trace, const Certificate* certificate) {
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

/// Root of the sum of all but the `split` largest.
double root_without_largest(Vector shares, Index split) {
  if (split >= shares.size()) return 0.0;
  std::sort(shares.data(), shares.data() + shares.size(), std::greater<>());
  return std::sqrt(positive_part(shares.tail(shares.size() - split).sum()));
}

/// No more than the certificate of signatures with the sizes of the options, up to rounding:
/// docs/theory/stein.md, "Signatures beside it" in (Y.1). N grid points on independent axes leave all but
/// log2 N neurons of the first hidden layer with a single point: such a neuron's activation is replaced by a
/// constant, and its whole variance, weighed by a metric, is in the certificate's first local term. Zero
/// where nothing is known: dependent neurons, masks, sizes that follow from an epsilon.
double signature_floor(const Prepared& prepared, const MomentTrace& trace) {
  const Network& network = prepared.network;
  if (prepared.options.epsilon || network.hidden_count() < 1 || network.has_masks()) return 0.0;
  if (trace.layers.empty() || trace.layers.front().pieces.size() != 1) return 0.0;
  const MomentLayerTrace& layer = trace.layers.front();
  if (!layer.pieces.component(0).covariance.is_diagonal()) return 0.0;
  const SurrogateLaw& law = layer.surrogates.front();
  const Vector variances = law.second - law.mean.cwiseAbs2();
  Index split = 0;
  for (Index points = prepared.options.signature_size; points > 1; points /= 2) ++split;
  double least = std::numeric_limits<double>::infinity();
  for (const MetricChain& chain : prepared.sensitivity->metrics) {
    const Vector& metric = chain.activation_weights.front();
    if (metric.size() != variances.size()) return 0.0;
    least = std::min(least, root_without_largest(metric.cwiseProduct(variances), split));
  }
  return least < std::numeric_limits<double>::infinity() ? reduced(least) : 0.0;
}

}  // namespace

Certified SignatureMethod::certify(ConstMatrixRef inputs) const {
  const Stopwatch watch;
  const Network& network = prepared_.network;
  const Options& options = prepared_.options;
  const Services& services = prepared_.services;
  const Sensitivity& sensitivity = *prepared_.sensitivity;
  EpsilonPlanner epsilon(network, sensitivity, options, services, inputs.cols());
  const SizePlanner planner = [&](Index layer, const GaussianMixture& mixture) {
    if (options.epsilon) return epsilon.plan(layer, mixture);
    return LayerSizes{options.components, options.signature_size};
  };
  Sealed<SignatureTrace> trace = propagate(network, inputs, sensitivity, options, planner, services);

  Certified made;
  Result& result = made.result;
  result.method = options.method == Method::Cross ? Method::Cross : Method::Signature;
  result.certificate = options.certificate;
  result.mixture = input_major(trace->output, network.outputs(), inputs.cols());
  if (options.method == Method::Cross) {
    result.w2 = Bound::none(Distance::W2);
    result.w1 = Bound::none(Distance::W1);
    result.relative_w2 = kNone;
    result.layers = layer_reports(*trace, nullptr);
    result.reason = "method cross carries no bound";
  } else {
    made.certificate =
        evaluate_signature_certificate(network, sensitivity, trace, certificate_form(options.certificate));
    result.layers = layer_reports(*trace, &made.certificate);
    result.certificate = mode_used(options.certificate, made.certificate);
    made.shortage = epsilon.budget_spent() ? Shortage::Budget : Shortage::None;
    attach_certificate(made.certificate, options, made.shortage, result);
  }
  made.trace = std::move(trace);
  result.seconds = watch.seconds();
  return made;
}

BoundContributions SignatureMethod::explain(const Certified& made) const {
  return signature_contributions(prepared_.network, *prepared_.sensitivity,
                                 std::get<Sealed<SignatureTrace>>(made.trace), made.certificate);
}

double SignatureMethod::least_bound(const Certified& other) const {
  const auto* moments = std::get_if<Sealed<MomentTrace>>(&other.trace);
  return moments == nullptr ? 0.0 : signature_floor(prepared_, **moments);
}

}  // namespace mixcert
