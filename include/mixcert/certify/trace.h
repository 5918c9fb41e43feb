// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What happened to the law of one set of inputs on its way through the network: everything
// the certificate is computed from. Planners choose (which components are merged, which grids, splits and
// masks are taken) and need not be trusted: src/certify checks their choices, makes every law and every
// number of a trace itself, and seals it (mixcert/certify/sealed.h). These structs are what is read from a
// sealed trace; one that anybody filled in by hand has no certificate. Choices that no bound depends on are
// here for the derivatives (Z.20), which hold them fixed.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/quantize/signature.h"
#include "mixcert/transport/discrete_transport.h"

namespace mixcert {

/// A mixture and its compression. Coordinates are neuron-major: neuron * input_count + input.
struct CompressionTrace {
  GaussianMixture before;       ///< q_k; empty when nothing was compressed
  GaussianMixture after;        ///< its compression c_k, or q_k itself
  std::vector<PlanEntry> plan;  ///< coupling of the components of the two, if compressed
  std::vector<Index> clusters;  ///< which component of `after` each of `before` went into; no bound uses it
};

/// Hidden layer k of the signature method.
struct LayerTrace : CompressionTrace {
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

/// What is known of the features x and of the push through the first layer; norms are over all inputs
/// together.
struct FirstLayerTrace {
  double norm = 0.0;   ///< no less than |x| and |s_0(x)|
  double error = 0.0;  ///< no less than |x - exact features|
  Vector squares;      ///< (s_0(x))^2, neuron * input_count + input
  Vector raise;        ///< added to the variances of q_1 against rounding (J.6); empty when nothing was
};

struct Trace {
  Index input_count = 1;
  FirstLayerTrace first;
  std::vector<LayerTrace> layers;  ///< hidden layers 1..K
  GaussianMixture output;          ///< q_{K+1}, neuron-major
  double settled = 0.0;            ///< W2 by which writing out its covariances moved it (R.8)
};

}  // namespace mixcert
