// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Traces of the signature method, the paper's main algorithm: affine, compression, signature, activation,
// affine, ... from the inputs to a Gaussian mixture over the outputs. A planner is asked for choices, layer
// by layer; it may be wrong in any way. Signatures, points and every number that a bound needs are made here.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "certificate/reduction.h"
#include "methods/signature/signature_trace.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// Which masks of points are enumerated (D.5), (D.6).
struct MaskPointChoices {
  Vector weights;         ///< per coordinate: where a mask that is not enumerated costs more
  Index most_points = 0;  ///< as long as there are no more points than this
  /// Bernoulli masks: leave the other points as if nothing had been dropped, like the paper?
  bool unperturbed = false;
};

/// What may be chosen at a hidden layer.
struct SignatureChoices {
  Sealed<CompressionTrace> reduction;  ///< of the layer's mixture; empty: every component is kept
  std::vector<GridAxes> grids;         ///< one for each component of the reduced mixture
  /// Cross signatures of so many points in place of grids: such a trace has no certificate.
  std::optional<Index> cross_points = {};
  MaskPointChoices masks = {};  ///< unused where the layer has none
  std::optional<std::size_t> placement_chain = {};
};

struct SignaturePlanner {
  /// Chooses for hidden layer `layer` (1..K) when its mixture is known.
  std::function<SignatureChoices(Index layer, const GaussianMixture& mixture)> choose;
  /// Told, if set, that so many points go through layer `layer` (1..K) next; may throw.
  std::function<void(Index layer, Index points)> before_push = {};
};

/// At the columns of `inputs` jointly. Throws InvalidArgument where choices do not fit.
Sealed<SignatureTrace> trace_signatures(const Network& network, ConstMatrixRef inputs,
                                        const SignaturePlanner& planner);

/// A hidden layer with the law `mixture` as far as its signatures, for planners: nothing was pushed, so it
/// has no masks, and points that coincide are counted apart.
Sealed<SignatureLayerTrace> trace_signature_layer(const GaussianMixture& mixture,
                                                  const SignatureChoices& choices);

}  // namespace mixcert
