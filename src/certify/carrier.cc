// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Carriers of every layer, docs/theory/moment-method.md (H.3).
#include "mixcert/certify/carrier.h"

#include <utility>

namespace mixcert {
namespace {

Carrier make_carrier(std::string name, Vector metric, const Matrix& weight_mean) {
  Carrier carrier;
  carrier.name = std::move(name);
  const Matrix weighted = metric.asDiagonal() * weight_mean;
  carrier.gram = weight_mean.transpose() * weighted;
  const double slack = 1.0 + rounding_gamma(metric.size() + 8);
  carrier.gram_roots = slack * carrier.gram.diagonal().cwiseMax(0.0).cwiseSqrt();
  carrier.metric = std::move(metric);
  return carrier;
}

}  // namespace

Carriers make_carriers(const Network& network, const Sensitivity& sensitivity) {
  const Index hidden = network.hidden_count();
  Carriers carriers(static_cast<std::size_t>(hidden));
  for (Index k = 1; k <= hidden; ++k) {
    const Matrix& weight_mean = network.layer(k).weight_mean();
    std::vector<Carrier>& list = carriers[static_cast<std::size_t>(k - 1)];
    if (k == hidden) {
      list.push_back(make_carrier("output", Vector::Ones(network.outputs()), weight_mean));
      continue;
    }
    const auto next = static_cast<std::size_t>(k);
    const double l = sensitivity.lipschitz[next].upper;
    for (const MetricChain& chain : sensitivity.metrics) {
      const double factor = next_up(next_up(l * l) * chain.inflation[next]) * (1.0 + 4 * kUnitRoundoff);
      list.push_back(make_carrier(chain.name, factor * chain.activation_weights[next], weight_mean));
    }
  }
  return carriers;
}

}  // namespace mixcert
