// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certification of a network at inputs: propagate, evaluate, report.
#include "mixcert/propagate/certify.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "mixcert/certify/certificate.h"
#include "mixcert/certify/sensitivity.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/propagate/epsilon_planner.h"
#include "mixcert/propagate/propagate.h"
#include "propagate/ordered_delivery.h"

namespace mixcert {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void check_inputs(const Network& network, ConstMatrixRef inputs) {
  require(inputs.cols() > 0, "inputs: expected at least one, got none");
  require(inputs.rows() == network.inputs(), "inputs: the network takes " + std::to_string(network.inputs()) +
                                                 " features, got " + std::to_string(inputs.rows()));
  for (Index i = 0; i < inputs.cols(); ++i) {
    for (Index f = 0; f < inputs.rows(); ++f) {
      require(std::isfinite(inputs(f, i)), "inputs: input " + std::to_string(i) + ", feature " +
                                               std::to_string(f) + ": expected a finite number, got " +
                                               format_number(inputs(f, i)));
    }
  }
}

/// Output coordinates neuron * D + input, listed input-major.
GaussianMixture input_major(const GaussianMixture& mixture, Index outputs, Index input_count) {
  std::vector<Index> order;
  for (Index d = 0; d < input_count; ++d) {
    for (Index neuron = 0; neuron < outputs; ++neuron) order.push_back(neuron * input_count + d);
  }
  return mixture.permuted(order);
}

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
    if (certificate != nullptr) report.metric = certificate->layers[k].metric;
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

void attach_certificate(const Certificate& certificate, const Options& options, bool budget_spent,
                        Result& result) {
  result.w2 = certificate.w2;
  result.w1 = certificate.w1;
  result.certificate = mode_used(options.certificate, certificate);
  const double scale = std::sqrt(result.mixture.second_moment());
  result.relative_w2 = scale > 0.0 ? result.w2.value / scale : kNone;
  if (!options.epsilon) {
    result.reason = "sizes as given";
    return;
  }
  const bool reached = result.w2.value <= *options.epsilon;
  result.termination = reached ? Termination::EpsilonReached : Termination::BudgetSpent;
  const std::string bound = format_number(result.w2.value);
  const std::string budget = std::to_string(options.max_components);
  if (reached) {
    result.reason = "the bound " + bound + " is at most epsilon";
  } else if (budget_spent) {
    result.reason =
        "the bound " + bound + " is above epsilon with all " + budget + " components; raise --max-components";
  } else {
    result.reason = "the bound " + bound + " is above epsilon by rounding";
  }
}

/// Certifies the columns of `inputs` as one joint law.
Result certify_one(const Network& network, ConstMatrixRef inputs, const Sensitivity& sensitivity,
                   const Options& options, const Services& services) {
  const auto start = std::chrono::steady_clock::now();
  EpsilonPlanner epsilon(network, sensitivity, options, services, inputs.cols());
  const SizePlanner planner = [&](Index layer, const GaussianMixture& mixture) {
    if (options.epsilon) return epsilon.plan(layer, mixture);
    return LayerSizes{options.components, options.signature_size};
  };
  const Trace trace = propagate(network, inputs, sensitivity, options, planner, services);

  Result result;
  result.method = options.method;
  result.certificate = options.certificate;
  result.mixture = input_major(trace.output, network.outputs(), inputs.cols());
  if (options.method == Method::Cross) {
    result.w2 = Bound::none(Norm::W2);
    result.w1 = Bound::none(Norm::W1);
    result.relative_w2 = kNone;
    result.layers = layer_reports(trace, nullptr);
    result.reason = "method cross carries no bound";
  } else {
    const Certificate certificate =
        evaluate_certificate(network, sensitivity, trace, certificate_form(options.certificate));
    result.layers = layer_reports(trace, &certificate);
    attach_certificate(certificate, options, epsilon.budget_spent(), result);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

std::vector<std::string> certificate_assumptions(const Options& options) {
  std::vector<std::string> assumptions = {
      "layers are independent of each other, weights within a layer are jointly Gaussian as stored",
      "arithmetic is IEEE double, rounding to nearest, without overflow",
      "the C library's elementary functions are accurate to 16 units of roundoff"};
  if (options.method == Method::Cross) assumptions = {"no bound: the cross signature carries none"};
  return assumptions;
}

void certify(const Network& network, ConstMatrixRef inputs, const Options& options, const ResultSink& sink,
             const Services& services) {
  options.validate();
  check_inputs(network, inputs);
  const Sensitivity sensitivity = analyse_sensitivity(network);
  if (options.joint) {
    sink(certify_one(network, inputs, sensitivity, options, services));
    return;
  }
  const int threads = resolve_thread_count(options.threads);
  OrderedDelivery delivery(sink, 4 * static_cast<Index>(threads));
  // Cancellation is looked at inside the piece, where abandon() wakes the threads that wait.
  parallel_for(inputs.cols(), threads, [&](Index i) {
    try {
      if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
      delivery.wait_for_turn(i);
      Result result = certify_one(network, inputs.col(i), sensitivity, options, services);
      result.input = i;
      delivery.deliver(std::move(result));
    } catch (...) {
      delivery.abandon();
      throw;
    }
  });
}

std::vector<Result> certify(const Network& network, ConstMatrixRef inputs, const Options& options,
                            const Services& services) {
  std::vector<Result> results;
  certify(
      network, inputs, options, [&](Result&& result) { results.push_back(std::move(result)); }, services);
  return results;
}

}  // namespace mixcert
