// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Splitting one Gaussian along neurons (P.1), (P.3): which neurons, and by which rules.
#pragma once

#include "methods/moment/moment_trace.h"
#include "methods/prepared.h"

namespace mixcert {

/// Chooses directions and rules greedily by the predicted fall of the certificate per added piece.
class ComponentSplitter {
 public:
  ComponentSplitter(const Prepared& prepared, Index layer);

  /// At most `budget` pieces.
  [[nodiscard]] std::vector<SplitDirection> choose(const Gaussian& component, Index budget) const;

 private:
  struct Neuron;
  class Choice;
  [[nodiscard]] Neuron describe(const Gaussian& component, Index j) const;
  [[nodiscard]] double local_error(double mean, double deviation, Index j) const;

  const ActivationMap& activation_;
  Vector split_weight_;   ///< G_k of the pre-activations
  Vector signal_weight_;  ///< what E (a_j - b_j)^2 costs at the output
  Vector noise_weight_;   ///< what Var(a_j^2) costs at the output, relative to the noise of the layer
};

}  // namespace mixcert
