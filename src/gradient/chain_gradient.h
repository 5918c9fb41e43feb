// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through the chains of metrics of analyse_sensitivity: from what terms of a certificate say
// about metrics back to weights, (Z.27).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "mixcert/gradient/objective.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

class ChainGradient {
 public:
  /// Both must outlive this.
  ChainGradient(const Network& network, const Sensitivity& sensitivity)
      : network_(network), sensitivity_(sensitivity) {}

  /// Adds derivatives in the metric of hidden layer `layer` (1..K) of the chain `name`, per coordinate of
  /// `input_count` inputs.
  void add(const std::string& name, Index layer, ConstVectorRef metric_bar, Index input_count);

  /// Adds what all of them say about the weights.
  void pull_back(NetworkGradient& gradient) const;

 private:
  void pull_back_paper(const std::vector<Vector>& bars, NetworkGradient& gradient) const;
  void pull_back_metrics(std::size_t chain, std::vector<Vector> bars, NetworkGradient& gradient) const;

  const Network& network_;
  const Sensitivity& sensitivity_;
  std::map<std::string, std::vector<Vector>> bars_;  ///< by chain and hidden layer; empty where none
};

/// The chain of that name: `paper` or one of sensitivity.metrics.
const MetricChain& chain_named(const Sensitivity& sensitivity, const std::string& name);

}  // namespace mixcert
