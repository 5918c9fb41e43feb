// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md (J.1), (J.6). The signal is measured input by input: the metric G (x) I_D does
// not mix inputs, so the (neurons D)^2 correlation matrix is never needed at once.
#include "mixcert/certify/joint_certificate.h"

#include <cmath>
#include <limits>

#include "certify/joint_slices.h"
#include "certify/layer_parts.h"
#include "certify/moment_error.h"
#include "certify/rounding_terms.h"
#include "certify/scale_limits.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

/// Mean square and slack of one layer in one norm, summed over inputs.
struct NormSum {
  Upper squared;
  double slack_squared = 0.0;
};

/// The layer without the noise of its weights, which is measured over all inputs together.
DenseLayer mean_layer_of(const DenseLayer& next) {
  return {next.name(), next.weight_mean(), next.bias_mean(), DeterministicWeights{}, DeterministicBias{}};
}

/// Signal terms of all inputs: (H.1) for the layer's mean weights.
std::vector<std::vector<NormSum>> signal_terms(const DenseLayer& next, const std::vector<Carrier>& carriers,
                                               const JointLayerTrace& layer, Index input_count) {
  const DenseLayer mean_layer = mean_layer_of(next);
  std::vector<std::vector<NormSum>> sums;
  sums.reserve(carriers.size());
  for (const Carrier& carrier : carriers) sums.emplace_back(carrier.norms.size());
  for (Index d = 0; d < input_count; ++d) {
    const Gaussian law = law_at_input(layer.law, d, input_count);
    const SurrogateLaw surrogate = surrogate_at_input(layer.surrogate, d, input_count);
    const PieceError error(mean_layer, law, surrogate);
    for (std::size_t c = 0; c < carriers.size(); ++c) {
      for (std::size_t n = 0; n < sums[c].size(); ++n) {
        const CarriedNorm& norm = carriers[c].norms[n];
        sums[c][n].squared = sums[c][n].squared + error.mean_square(norm);
        const double slack = error.slack(norm);
        sums[c][n].slack_squared += slack * slack;
      }
    }
  }
  return sums;
}

/// Rounding of the stored covariance (J.6).
double covariance_slack(const JointLayerTrace& layer, const CarriedNorm& norm, Index input_count) {
  const Index outputs = norm.metric.size();
  const double dimension = static_cast<double>(outputs * input_count);
  const double gamma = rounding_gamma(2 * layer.surrogate.gain.size() / input_count + 64);
  const double dense = norm.diagonal ? 1.0 : static_cast<double>(outputs);
  return std::sqrt(3.0 * dimension * gamma * dense * norm.metric.dot(layer.majorant));
}

LayerTerms evaluate_layer(const DenseLayer& next, const std::vector<Carrier>& carriers,
                          const JointLayerTrace& layer, Index input_count) {
  const auto sums = signal_terms(next, carriers, layer, input_count);
  LayerTerms terms;
  const double infinity = std::numeric_limits<double>::infinity();
  terms.local = {infinity, infinity};
  for (std::size_t c = 0; c < carriers.size(); ++c) {
    Upper total;
    for (std::size_t n = 0; n < sums[c].size(); ++n) {
      const CarriedNorm& norm = carriers[c].norms[n];
      const Upper noise = Upper::of_sum(norm.metric.dot(layer.noise.cost), 2 * norm.metric.size() + 8);
      const double slack =
          (std::sqrt(sums[c][n].slack_squared) + covariance_slack(layer, norm, input_count)) * kSafety;
      total = total + Upper::exact(norm.factor) * (sqrt(sums[c][n].squared + noise) + Upper{0.0, slack});
    }
    if (total.upper >= terms.local.upper) continue;
    terms.local = total;
    terms.metric = carriers[c].name;
    terms.chain = c;
    terms.gain = carriers[c].gain();
  }
  terms.local_w1 = terms.local;
  return terms;
}

}  // namespace

std::vector<RootParts> joint_parts(const Network& network, const Carriers& carriers,
                                   const JointLayerTrace& layer, Index number, Index input_count,
                                   const LayerTerms& terms) {
  const Carrier& carrier = carriers[static_cast<std::size_t>(number - 1)][terms.chain];
  const DenseLayer mean_layer = mean_layer_of(network.layer(number));
  std::vector<RootParts> roots;
  for (const CarriedNorm& norm : carrier.norms) {
    RootParts& root = roots.emplace_back();
    root.factor = norm.factor;
    root.parts.noise = norm.metric.cwiseProduct(layer.noise.cost);
  }
  for (Index d = 0; d < input_count; ++d) {
    const Gaussian law = law_at_input(layer.law, d, input_count);
    const SurrogateLaw surrogate = surrogate_at_input(layer.surrogate, d, input_count);
    const PieceError error(mean_layer, law, surrogate);
    for (std::size_t n = 0; n < roots.size(); ++n) roots[n].parts.add(1.0, error.parts(carrier.norms[n]));
  }
  return roots;
}

Certificate evaluate_joint_certificate(const Network& network, const Sensitivity& sensitivity,
                                       const Carriers& carriers, const Sealed<JointTrace>& trace) {
  const JointTrace& made = *trace;
  require(static_cast<Index>(made.layers.size()) == network.hidden_count(),
          "certificate: the trace has the wrong number of layers");
  require_moderate(made.output, network, sensitivity, network.hidden_count());
  Certificate certificate;
  certificate.first = first_layer_error(network, sensitivity, made.first, made.input_count);
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const auto at = static_cast<std::size_t>(k - 1);
    require_moderate(made.layers[at].law, network, sensitivity, k - 1);
    certificate.layers.push_back(
        evaluate_layer(network.layer(k), carriers[at], made.layers[at], made.input_count));
  }
  certificate.add_up();
  return certificate;
}

}  // namespace mixcert
