// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The trace of the signature method.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "certificate/trace_parts.h"
#include "quantize/signature.h"

namespace mixcert {

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

}  // namespace mixcert
