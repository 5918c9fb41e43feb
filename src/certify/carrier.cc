// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Carriers of every layer, docs/theory/metrics.md (M.7), (M.8).
#include "mixcert/certify/carrier.h"

#include <cmath>
#include <utility>

#include "certify/carrier_chain.h"

namespace mixcert {

double Carrier::gain() const {
  double sum = 0.0;
  for (const CarriedNorm& norm : norms)
    sum += norm.factor * std::sqrt(norm.metric.maxCoeff<Eigen::PropagateNaN>());
  return sum;
}

Carriers make_carriers(const Network& network, SensitivityMode mode) {
  const Index hidden = network.hidden_count();
  Carriers carriers(static_cast<std::size_t>(hidden));
  if (hidden == 0) return carriers;
  const OutputNorm identity = identity_norm(network.outputs());
  carriers.back().push_back({"output", {pull_back(identity, network.layer(hidden))}});
  std::vector<MetricForm> forms = closed_forms();
  if (mode == SensitivityMode::Sdp) forms.push_back(semidefinite_form());
  for (const MetricForm& form : forms) {
    std::vector<OutputNorm> norms{identity};
    for (Index k = hidden - 1; k >= 1; --k) {
      norms = carry_back(norms, network, k, form);
      Carrier carrier{form.name, {}};
      for (const OutputNorm& norm : norms) {
        carrier.norms.push_back(pull_back(norm, network.layer(k)));
      }
      carriers[static_cast<std::size_t>(k - 1)].push_back(std::move(carrier));
    }
  }
  return carriers;
}

}  // namespace mixcert
