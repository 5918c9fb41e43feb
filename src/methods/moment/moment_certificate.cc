// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Evaluation of the moment method's certificate, docs/theory/moment-method.md (H.4). As in (M.2), every term
// takes the chain of metrics that makes it smallest.
#include "methods/moment/moment_certificate.h"

#include <cmath>
#include <limits>

#include "certificate/reduction.h"
#include "certificate/rounding_terms.h"
#include "methods/moment/moment_error.h"
#include "methods/moment/split_pieces.h"
#include "methods/moment/surrogate_law.h"
#include "mixcert/core/error.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

/// Sums over pieces of one layer for one norm.
struct LocalSum {
  UpperBound squared;
  UpperBound mean;
  UpperBound replaced_squared;
  UpperBound replaced_mean;
  double slack_squared = 0.0;
  double slack_mean = 0.0;

  void add(UpperBound weight, UpperBound error, UpperBound replaced, double slack) {
    squared = squared + weight * error;
    mean = mean + weight * sqrt(error);
    replaced_squared = replaced_squared + weight * replaced;
    replaced_mean = replaced_mean + weight * sqrt(replaced);
    slack_squared += weight.upper * slack * slack;
    slack_mean += weight.upper * slack;
  }
  /// (sum_i w_i (e_i + r_i + slack_i)^2)^{1/2} by Minkowski.
  [[nodiscard]] Distances distances() const {
    const double safety = 1.0 + 1e-9;
    return {sqrt(squared) + sqrt(replaced_squared) + UpperBound{0.0, std::sqrt(slack_squared) * safety},
            mean + replaced_mean + UpperBound{0.0, slack_mean * safety}};
  }
};

/// Sum of the norms of a error norm.
Distances carried(const ErrorNorm& error_norm, const std::vector<LocalSum>& sums) {
  Distances total;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const UpperBound factor = UpperBound::exact(error_norm.norms[i].factor);
    const Distances distances = sums[i].distances();
    total = {total.w2 + factor * distances.w2, total.w1 + factor * distances.w1};
  }
  return total;
}

/// Compression and splitting act on the pre-activations: metrics G_k = l^2 inflation diag(g_k).
void evaluate_reduction(const Sensitivity& sensitivity, const MomentLayerTrace& layer, Index number,
                        LayerTerms& terms) {
  if (layer.plan.empty() && layer.splits.empty()) return;
  const auto k = static_cast<std::size_t>(number - 1);
  const double infinity = std::numeric_limits<double>::infinity();
  UpperBound compression = {infinity, infinity};
  UpperBound compression_w1 = compression;
  UpperBound splitting = compression;
  for (const MetricChain& chain : sensitivity.metrics) {
    const Vector& g = chain.activation_weights[k];
    const UpperBound scale =
        sensitivity.lipschitz[k] * UpperBound{1.0, next_up(std::sqrt(chain.inflation[k]))};
    const Distances distances = compression_distances(layer, g, scale);
    compression = min(compression, distances.w2);
    compression_w1 = min(compression_w1, distances.w1);
    splitting = min(splitting, split_distance(layer, g, scale));
  }
  terms.splitting = splitting;
  terms.compression = compression + splitting;
  terms.compression_w1 = min(compression_w1, compression) + splitting;
}

}  // namespace

void evaluate_local(const Network& network, const std::vector<ErrorNorm>& error_norms,
                    const MomentLayerTrace& layer, Index number, NoiseRule rule, LayerTerms& terms) {
  std::vector<std::vector<LocalSum>> sums;
  sums.reserve(error_norms.size());
  for (const ErrorNorm& error_norm : error_norms) sums.emplace_back(error_norm.norms.size());
  const Index leaves = layer.masks.size();
  const Vector weights = pushed_weights(layer);
  // (R.6) for the weights of leaves, products along paths no longer than their number; those of pieces are
  // charged where they are made.
  const double weight_error =
      leaves == 1 ? 0.0 : 4.0 * std::sqrt(rounding_gamma(2 * weights.size() + 4 * leaves + 64));
  for (Index i = 0; i < weights.size(); ++i) {
    const PieceError error(network.layer(number), layer.pieces.component(i / leaves),
                           layer.surrogates[static_cast<std::size_t>(i)], rule);
    const UpperBound weight = UpperBound::exact(weights(i));
    for (std::size_t c = 0; c < error_norms.size(); ++c) {
      for (std::size_t n = 0; n < sums[c].size(); ++n) {
        const NormTerm& norm = error_norms[c].norms[n];
        const double slack = error.slack(norm) + weight_error * error.size_in(norm);
        sums[c][n].add(weight, error.mean_square(norm), error.replaced_weights(norm), slack);
      }
    }
  }
  const double infinity = std::numeric_limits<double>::infinity();
  terms.local = terms.local_w1 = {infinity, infinity};
  for (std::size_t c = 0; c < error_norms.size(); ++c) {
    const Distances local = carried(error_norms[c], sums[c]);
    terms.local_w1 = min(terms.local_w1, local.w1);
    if (local.w2.upper >= terms.local.upper) continue;
    terms.local = local.w2;
    terms.metric = error_norms[c].name;
    terms.chain = c;
    terms.gain = error_norms[c].gain();
  }
  terms.local_w1 = min(terms.local_w1, terms.local);
}

namespace {

LayerTerms terms_of(const Network& network, const Sensitivity& sensitivity, const ErrorNorms& error_norms,
                    const MomentLayerTrace& layer, Index layer_number) {
  LayerTerms terms;
  terms.theorem = network.layer(layer_number).has_independent_outputs() ? "H.3" : "H.7";
  evaluate_local(network, error_norms[static_cast<std::size_t>(layer_number - 1)], layer, layer_number,
                 NoiseRule::Any, terms);
  evaluate_reduction(sensitivity, layer, layer_number, terms);
  return terms;
}

}  // namespace

LayerTerms evaluate_moment_layer(const Network& network, const Sensitivity& sensitivity,
                                 const ErrorNorms& error_norms, const Sealed<MomentLayerTrace>& layer,
                                 Index layer_number) {
  return terms_of(network, sensitivity, error_norms, *layer, layer_number);
}

Certificate evaluate_moment_certificate(const Network& network, const Sensitivity& sensitivity,
                                        const ErrorNorms& error_norms, const Sealed<MomentTrace>& trace) {
  const MomentTrace& made = *trace;
  require(static_cast<Index>(made.layers.size()) == network.hidden_count(),
          "certificate: the trace has the wrong number of layers");
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const MomentLayerTrace& layer = made.layers[static_cast<std::size_t>(k - 1)];
    require_moderate(layer.before, network, sensitivity, k - 1);
    require_moderate(layer.pieces, network, sensitivity, k - 1);
  }
  require_moderate(made.output, network, sensitivity, network.hidden_count());
  Certificate certificate;
  certificate.first = first_layer_error(network, sensitivity, made.first, 1) + UpperBound{0.0, made.settled};
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const MomentLayerTrace& layer = made.layers[static_cast<std::size_t>(k - 1)];
    certificate.layers.push_back(terms_of(network, sensitivity, error_norms, layer, k));
  }
  certificate.add_up();
  return certificate;
}

}  // namespace mixcert
