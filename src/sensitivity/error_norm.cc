// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// ErrorNorms of every layer, docs/theory/metrics.md (M.7), (M.8).
#include "sensitivity/error_norm.h"

#include <cmath>
#include <utility>

#include "sensitivity/error_norm_chain.h"

namespace mixcert {

double ErrorNorm::gain() const {
  double sum = 0.0;
  for (const NormTerm& norm : norms)
    sum += norm.factor * std::sqrt(norm.metric.maxCoeff<Eigen::PropagateNaN>());
  return sum;
}

ErrorNorms make_error_norms(const Network& network, SensitivityMode mode) {
  const Index hidden = network.hidden_count();
  ErrorNorms error_norms(static_cast<std::size_t>(hidden));
  if (hidden == 0) return error_norms;
  const OutputNorm identity = identity_norm(network.outputs());
  error_norms.back().push_back({"output", {pull_back(identity, network.layer(hidden))}});
  std::vector<MetricForm> forms = closed_forms();
  if (mode == SensitivityMode::Sdp) forms.push_back(semidefinite_form());
  for (const MetricForm& form : forms) {
    std::vector<OutputNorm> norms{identity};
    for (Index k = hidden - 1; k >= 1; --k) {
      norms = carry_back(norms, network, k, form);
      ErrorNorm error_norm{form.name, {}};
      for (const OutputNorm& norm : norms) {
        error_norm.norms.push_back(pull_back(norm, network.layer(k)));
      }
      error_norms[static_cast<std::size_t>(k - 1)].push_back(std::move(error_norm));
    }
  }
  return error_norms;
}

}  // namespace mixcert
