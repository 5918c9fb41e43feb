// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks for the tests of preconditions: everything about one that a precondition may be about.
#pragma once

#include <vector>

#include "methods/moment/moment_tracer.h"
#include "mixcert/network/network.h"

namespace mixcert::testing {

enum class Family { Independent, Deterministic, LowRank };

struct LayerPlan {
  double weight = 0.4, variance = 0.02, bias_variance = 0.05;
  Family family = Family::Independent;
  EntryLaw law = {};
  bool same_rows = false;
};

/// Everything about a network that a precondition may be about.
struct Plan {
  ActivationFunction function = ActivationFunction::Tanh;
  Index width = 16, outputs = 2;
  std::vector<LayerPlan> layers;
  std::vector<Index> pieces;  ///< per hidden layer
  Index masked = 0;           ///< hidden layer with dropout; 0: none
  Mask mask = Mask::bernoulli(0.1);
  Index leaves = 1;  ///< of its masks
  Index site = 1;    ///< hidden layer whose term is looked at

  explicit Plan(std::size_t hidden) : layers(hidden + 1), pieces(hidden, 1) {
    layers.front() = {1.0, 0.3, 0.0};
  }
  [[nodiscard]] std::size_t hidden() const { return pieces.size(); }
  [[nodiscard]] Network network() const;
};

/// Every component of `mixture` in at least `count` pieces, along what the first neuron has of all others.
MomentChoices split(const GaussianMixture& mixture, Index count);

}  // namespace mixcert::testing
