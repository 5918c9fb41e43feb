// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which masks of a layer are enumerated: a binary tree that asks, node by node, whether a neuron is kept. Its
// leaves are a partition of all masks; masks that a path does not ask for stay random (D.4).
#pragma once

#include <functional>
#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// What a leaf knows.
struct MaskLeaf {
  std::vector<Index> kept;
  std::vector<Index> dropped;
  double probability = 1.0;
};

class MaskTree {
 public:
  /// A tree of one leaf, which knows nothing.
  MaskTree() : leaves_(1) {}

  [[nodiscard]] Index size() const { return static_cast<Index>(leaves_.size()); }
  [[nodiscard]] const MaskLeaf& leaf(Index i) const { return leaves_[static_cast<std::size_t>(i)]; }
  /// The leaf of a mask.
  [[nodiscard]] Index find(const std::function<bool(Index neuron)>& is_kept) const;

  /// Is it a tree of masks of `neurons` neurons with this law? One of one leaf is, whatever the law.
  [[nodiscard]] bool fits(const Mask& mask, Index neurons) const;

  /// Makes the leaf ask for one more neuron: itself where it is kept, a new leaf where it is dropped. Throws
  /// InvalidArgument unless the mask is Bernoulli, the same for every split, and the neuron's mask is unknown
  /// at the leaf.
  void split(Index leaf, Index neuron, const Mask& mask);

 private:
  struct Node {
    Index neuron = 0;
    // A leaf i as -1 - i, another node as its index.
    Index when_kept = 0;
    Index when_dropped = 0;
  };
  Index root_ = -1;
  double rate_ = 0.0;  ///< of the masks; zero before the first split
  std::vector<Node> nodes_;
  std::vector<MaskLeaf> leaves_;
};

/// At most `leaves` leaves; every step asks at the leaf where probability times the cost of its most
/// expensive unknown neuron is largest. Costs that are not positive are never asked for. One leaf without a
/// Bernoulli mask.
MaskTree grow_mask_tree(ConstVectorRef costs, const Mask& mask, Index leaves);

}  // namespace mixcert
