// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The trace of the moment method over several inputs jointly, docs/theory/joint-moments.md: one Gaussian per
// layer. Coordinates are neuron-major: neuron * input_count + input.
#pragma once

#include <memory>
#include <vector>

#include "methods/moment/moment_trace.h"

namespace mixcert {

class NeuronMoments;

/// How E S_l is made invertible (J.3), (J.8).
enum class RidgeRule {
  LeastBound,  ///< what makes the cost smallest: up to a fifth of a mean variance
  Least,       ///< as little as can be proven: q's covariances are those of the network, the bound is larger
  Truncated,   ///< as LeastBound, or only the large directions are inverted; the smallest bound
};

/// What a layer's random weights add, given the activations: rows l of W are independent, so one D x D
/// block per output (J.3).
struct JointNoise {
  Matrix blocks;  ///< T_l, stacked as (outputs * D) x D; positive semidefinite
  Vector cost;    ///< no less than E W2^2(N(0, S_l(a)), N(0, T_l)), one entry per output
  Vector ridge;   ///< eps of T_l = E S_l + eps I over tr(E S_l)/D; negative where T_l = tr(E S_l) I,
                  ///< NaN where it is truncated
  std::vector<bool> trivial;  ///< is the cost that of the independent coupling?
};

struct JointLayerTrace {
  Gaussian law;            ///< q_k
  SurrogateLaw surrogate;  ///< one entry per coordinate
  JointNoise noise;        ///< of the next layer
  Vector majorant;         ///< sum over inputs of the P^2 that bound rounding of q_{k+1}, per output (J.6)
  /// What each neuron's moments were made from, for derivatives; empty unless asked for.
  std::vector<std::shared_ptr<const NeuronMoments>> neurons;
};

struct JointTrace {
  Index input_count = 1;
  FirstLayerTrace first;
  std::vector<JointLayerTrace> layers;
  Gaussian output;
};

}  // namespace mixcert
