// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The flow from a sum of masks and Gaussian noise to its Gaussian, docs/theory/mask-sums.md (D.10), (D.11):
// how fast it moves at a time w, and how far it has moved until then.
#pragma once

#include <vector>

#include "network/mask_sums/noisy_mask.h"

namespace mixcert {

/// Masks of rates of at most 1/2, a column for each.
struct MaskVectors {
  Matrix vectors;           ///< c_j, none of them zero
  Vector squares;           ///< |c_j|^2, no more than 1e-9 of itself off
  std::vector<Index> laws;  ///< which table
};

/// sum_{first <= j < last} c_j Y_j + N(0, noise), whose covariance is `total`.
struct FlowStage {
  Index first, last;
  Matrix noise, total;
  double error;  ///< no less than what either matrix is off by, in Frobenius norm
};

/// Of the path w (sum + noise) + (1-w^2)^{1/2} N(0, total).
struct FlowNode {
  double w;
  double speed;     ///< K: no less than |velocity|/w up to this node
  double distance;  ///< L: no less than W2 of the path at w to N(0, total)
};

class MaskFlow {
 public:
  /// Everything must outlive this; tables are filled as needed.
  MaskFlow(const MaskVectors& masks, std::vector<NoisyMaskTable>& tables, int threads)
      : masks_(masks), tables_(tables), threads_(threads) {}

  /// K(w) of (D.10), no smaller and for every earlier time too; infinite where it is not known. 0 < w <= 1;
  /// w = 1 needs regular noise.
  [[nodiscard]] double speed(const FlowStage& stage, double w) const;

  /// About `count` nodes, placed where they lower the bound of (D.12) most; none where no speed is known.
  [[nodiscard]] std::vector<FlowNode> nodes(const FlowStage& stage, Index count) const;

 private:
  const MaskVectors& masks_;
  std::vector<NoisyMaskTable>& tables_;
  int threads_;
};

/// (D.13) for one node: no less than the squared distance behind a jump over 1 - w and the flow, where what
/// came before is `before` away from its Gaussian; `trace` is no less than that of the stage's covariance.
double jump_and_flow(const FlowNode& node, double before, double trace);

}  // namespace mixcert
