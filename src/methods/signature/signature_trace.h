// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The trace of the signature method, and how it is made: the paper's main algorithm, affine, compression,
// signature, activation, affine, ... from the inputs to a Gaussian mixture over the outputs. A planner is
// asked for choices, layer by layer; it may be wrong in any way. Signatures, points and every number that a
// bound needs are made here.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "certificate/reduction.h"
#include "certificate/trace_parts.h"
#include "mixcert/network/network.h"
#include "quantize/signature.h"

namespace mixcert {

// The trace.

/// Hidden layer k of the signature method.
struct SignatureLayerTrace : CompressionTrace {
  std::vector<GridSignature> signatures;  ///< one per component of `after`
  Index points = 0;                       ///< points pushed, after merging and masks
  /// Per coordinate, E (m_j c_j - c'_j)^2 where the points c' stand for masked ones (D.5); empty without a
  /// mask.
  Vector mask_errors;
  Index mask_leaves = 1;  ///< of the tree of enumerated masks: no path is longer
  /// Are points whose masks are not enumerated left as if nothing had been dropped (D.6)? Otherwise masks
  /// are replaced by their mean.
  bool unperturbed = false;
  Vector second_moments;  ///< E c'_j^2 of the points pushed
  /// Index into Sensitivity::metrics of the chain whose metric the grids were placed in; none: Euclidean.
  std::optional<std::size_t> placement_chain;
};

struct SignatureTrace {
  Index input_count = 1;
  FirstLayerTrace first;
  std::vector<SignatureLayerTrace> layers;  ///< hidden layers 1..K
  GaussianMixture output;                   ///< q_{K+1}, neuron-major
  double settled = 0.0;                     ///< W2 by which writing out its covariances moved it (R.8)
};

// Dropout: masks of a discrete law's points, docs/theory/dropout.md (D.5), (D.6).

struct MaskedPoints {
  DiscreteLaw law;
  /// Per coordinate, E (m_j c_j - c'_j)^2 for the masks that were not enumerated; rounded up.
  Vector errors;
  Index leaves = 1;  ///< of the tree of enumerated masks
};

/// Enumerates masks by a tree with as many leaves as `most_points` allows, those of largest weight * E c_j^2
/// first, and replaces the others by their mean, one (D.5). Gaussian masks are not enumerated.
MaskedPoints mask_coordinates(const DiscreteLaw& law, const Mask& mask, ConstVectorRef weights,
                              Index most_points);

/// The paper's Eq. (CompressedOutputDropout): the points of largest norm have all masks enumerated as long as
/// `most_points` allows, the others are left as if nothing had been dropped: c / keep (D.6).
MaskedPoints mask_like_paper(const DiscreteLaw& law, const Mask& mask, Index most_points);

// What planners choose, and the tracer.

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
