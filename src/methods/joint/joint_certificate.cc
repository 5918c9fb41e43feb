// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md (J.1), (J.6). The signal is measured input by input: the metric G (x) I_D does
// not mix inputs, so the (neurons D)^2 correlation matrix is never needed at once.
#include "methods/joint/joint_certificate.h"

#include <cmath>
#include <limits>

#include "certificate/rounding_terms.h"
#include "methods/joint/joint_tracer.h"
#include "methods/moment/moment_error.h"
#include "mixcert/core/error.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

/// Mean square and slack of one layer in one norm, summed over inputs.
struct NormSum {
  UpperBound squared;
  double slack_squared = 0.0;
};

/// The layer without the noise of its weights, which is measured over all inputs together.
DenseLayer mean_layer_of(const DenseLayer& next) {
  return {next.name(), next.weight_mean(), next.bias_mean(), DeterministicWeights{}, DeterministicBias{}};
}

/// Signal terms of all inputs: (H.1) for the layer's mean weights.
std::vector<std::vector<NormSum>> signal_terms(const DenseLayer& next,
                                               const std::vector<ErrorNorm>& error_norms,
                                               const JointLayerTrace& layer, Index input_count) {
  const DenseLayer mean_layer = mean_layer_of(next);
  std::vector<std::vector<NormSum>> sums;
  sums.reserve(error_norms.size());
  for (const ErrorNorm& error_norm : error_norms) sums.emplace_back(error_norm.norms.size());
  for (Index d = 0; d < input_count; ++d) {
    const Gaussian law = law_at_input(layer.law, d, input_count);
    const SurrogateLaw surrogate = surrogate_at_input(layer.surrogate, d, input_count);
    const PieceError error(mean_layer, law, surrogate);
    for (std::size_t c = 0; c < error_norms.size(); ++c) {
      for (std::size_t n = 0; n < sums[c].size(); ++n) {
        const NormTerm& norm = error_norms[c].norms[n];
        sums[c][n].squared = sums[c][n].squared + error.mean_square(norm);
        const double slack = error.slack(norm);
        sums[c][n].slack_squared += slack * slack;
      }
    }
  }
  return sums;
}

/// Rounding of the stored covariance (J.6).
double covariance_slack(const JointLayerTrace& layer, const NormTerm& norm, Index input_count) {
  const Index outputs = norm.metric.size();
  const double dimension = static_cast<double>(outputs * input_count);
  const double gamma = rounding_gamma(2 * layer.surrogate.gain.size() / input_count + 64);
  const double dense = norm.diagonal ? 1.0 : static_cast<double>(outputs);
  return std::sqrt(3.0 * dimension * gamma * dense * norm.metric.dot(layer.majorant));
}

LayerTerms joint_terms(const DenseLayer& next, const std::vector<ErrorNorm>& error_norms,
                       const JointLayerTrace& layer, Index input_count) {
  const auto sums = signal_terms(next, error_norms, layer, input_count);
  LayerTerms terms;
  const double infinity = std::numeric_limits<double>::infinity();
  terms.local = {infinity, infinity};
  for (std::size_t c = 0; c < error_norms.size(); ++c) {
    UpperBound total;
    for (std::size_t n = 0; n < sums[c].size(); ++n) {
      const NormTerm& norm = error_norms[c].norms[n];
      const UpperBound noise =
          UpperBound::of_sum(norm.metric.dot(layer.noise.cost), 2 * norm.metric.size() + 8);
      const double slack =
          enlarged(std::sqrt(sums[c][n].slack_squared) + covariance_slack(layer, norm, input_count));
      total = total +
              UpperBound::exact(norm.factor) * (sqrt(sums[c][n].squared + noise) + UpperBound{0.0, slack});
    }
    if (total.upper >= terms.local.upper) continue;
    terms.local = total;
    terms.metric = error_norms[c].name;
    terms.chain = c;
    terms.gain = error_norms[c].gain();
  }
  terms.local_w1 = terms.local;
  return terms;
}

std::vector<RootParts> joint_parts(const DenseLayer& next, const ErrorNorm& error_norm,
                                   const JointLayerTrace& layer, Index input_count) {
  const DenseLayer mean_layer = mean_layer_of(next);
  std::vector<RootParts> roots;
  for (const NormTerm& norm : error_norm.norms) {
    RootParts& root = roots.emplace_back();
    root.factor = norm.factor;
    root.parts.noise = norm.metric.cwiseProduct(layer.noise.cost);
  }
  for (Index d = 0; d < input_count; ++d) {
    const Gaussian law = law_at_input(layer.law, d, input_count);
    const SurrogateLaw surrogate = surrogate_at_input(layer.surrogate, d, input_count);
    const PieceError error(mean_layer, law, surrogate);
    for (std::size_t n = 0; n < roots.size(); ++n) roots[n].parts.add(1.0, error.parts(error_norm.norms[n]));
  }
  return roots;
}

}  // namespace

BoundContributions joint_contributions(const Network& network, const ErrorNorms& error_norms,
                                       const Sealed<JointTrace>& trace, const Certificate& certificate) {
  return contributions_of(certificate, [&](std::size_t k, const LayerTerms& terms) {
    return joint_parts(network.layer(static_cast<Index>(k) + 1), error_norms[k][terms.chain],
                       trace->layers[k], trace->input_count);
  });
}

Certificate evaluate_joint_certificate(const Network& network, const Sensitivity& sensitivity,
                                       const ErrorNorms& error_norms, const Sealed<JointTrace>& trace) {
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
        joint_terms(network.layer(k), error_norms[at], made.layers[at], made.input_count));
  }
  certificate.add_up();
  return certificate;
}

}  // namespace mixcert
