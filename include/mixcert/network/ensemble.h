// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Several networks, one of which is drawn with its weight: deep ensembles, and networks with layers whose law
// is a mixture (one member per choice of components). The output law is the mixture of the members' laws
// (L.6).
#pragma once

#include <vector>

#include "mixcert/network/network.h"

namespace mixcert {

class Ensemble {
 public:
  /// Weights must be positive and sum to one within 1e-9 (they are normalised); members must agree in inputs
  /// and outputs. Throws InvalidArgument otherwise.
  Ensemble(std::vector<Network> members, Vector weights);
  explicit Ensemble(Network network);

  [[nodiscard]] Index size() const { return weights_.size(); }
  [[nodiscard]] const Network& member(Index i) const { return members_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Vector& weights() const { return weights_; }
  [[nodiscard]] Index inputs() const { return members_.front().inputs(); }
  [[nodiscard]] Index outputs() const { return members_.front().outputs(); }

 private:
  std::vector<Network> members_;
  Vector weights_;
};

/// The network whose one output is the combination of all with these weights (N.8). Throws InvalidArgument
/// where weights are not one per output, or a law has no such combination.
Network combined_output(const Network& network, ConstVectorRef weights);
Ensemble combined_output(const Ensemble& ensemble, ConstVectorRef weights);

}  // namespace mixcert
