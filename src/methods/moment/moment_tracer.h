// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Traces of the moment method: affine, compression, splitting, surrogate, affine, ... from one input to a
// Gaussian mixture over the outputs. A planner is asked for choices, layer by layer; it may be wrong in any
// way. Every law, every surrogate and every number that a bound needs is made here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "certificate/reduction.h"
#include "methods/moment/moment_trace.h"
#include "mixcert/certificate/options.h"
#include "mixcert/certificate/services.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// What may be chosen at a hidden layer. Nothing at all: one surrogate for every component.
struct MomentChoices {
  Sealed<CompressionTrace> reduction;  ///< of the layer's mixture; empty: every component is kept
  /// Directions for each component of the reduced mixture, with rules of split_rules(); or no lists.
  std::vector<std::vector<SplitDirection>> splits;
  MaskTree masks;  ///< which masks are enumerated
};

/// Chooses for hidden layer `layer` (1..K) when its mixture is known.
using MomentPlanner = std::function<MomentChoices(Index layer, const GaussianMixture& mixture)>;

/// A hidden layer (1..K) whose pre-activations have the law `mixture`. Throws InvalidArgument where the
/// choices do not fit the mixture or the network.
Sealed<MomentLayerTrace> trace_moment_layer(const Network& network, Index layer,
                                            const GaussianMixture& mixture, MomentChoices choices);

class MomentTracer {
 public:
  /// Pushes the columns of `inputs`, each for itself, through the first layer. They share the products and
  /// get the bits that they would get alone (R.7). `network` must outlive this.
  MomentTracer(const Network& network, ConstMatrixRef inputs);

  [[nodiscard]] Index input_count() const { return static_cast<Index>(firsts_.size()); }

  /// One trace for each input. They go through the layers together, again with the bits of each alone; the
  /// planner is asked for every layer and input.
  [[nodiscard]] std::vector<Sealed<MomentTrace>> trace_all(const MomentPlanner& planner) const;
  /// The trace of one input.
  [[nodiscard]] Sealed<MomentTrace> trace(Index input, const MomentPlanner& planner) const;

 private:
  struct First {
    GaussianMixture law;
    FirstLayerTrace trace;
  };
  [[nodiscard]] std::vector<Sealed<MomentTrace>> trace_some(Index first, Index count,
                                                            const MomentPlanner& planner) const;

  const Network& network_;
  std::vector<First> firsts_;
};

// The moment method at one input, by any planner.

/// `planner`, which throws Interrupted instead when services.cancel is set.
MomentPlanner interruptible(MomentPlanner planner, const Services& services);

Sealed<MomentTrace> propagate_moments(const Network& network, ConstVectorRef input,
                                      const MomentPlanner& planner, const Services& services);

}  // namespace mixcert
