// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Trees of masks. At rate 1/2 the greedy tree is about balanced; at small rates it is deep along the masks
// that drop nothing, and 64 leaves know 12 masks on average instead of 6 at rate 0.1 (a Tunstall code).
#include "certificate/mask_tree.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "mixcert/core/error.h"

namespace mixcert {

Index MaskTree::find(const std::function<bool(Index)>& is_kept) const {
  Index at = root_;
  while (at >= 0) {
    const Node& node = nodes_[static_cast<std::size_t>(at)];
    at = is_kept(node.neuron) ? node.when_kept : node.when_dropped;
  }
  return -1 - at;
}

bool MaskTree::fits(const Mask& mask, Index neurons) const {
  if (nodes_.empty()) return true;
  const auto is_neuron = [neurons](const Node& node) { return node.neuron < neurons; };
  return mask.kind() == Mask::Kind::Bernoulli && mask.rate() == rate_ &&
         std::all_of(nodes_.begin(), nodes_.end(), is_neuron);
}

void MaskTree::split(Index leaf, Index neuron, const Mask& mask) {
  require(mask.kind() == Mask::Kind::Bernoulli, "mask tree: only Bernoulli masks can be enumerated");
  require(leaf >= 0 && leaf < size() && neuron >= 0, "mask tree: no such leaf or neuron");
  require(nodes_.empty() || mask.rate() == rate_, "mask tree: all masks of a tree have one law");
  rate_ = mask.rate();
  MaskLeaf& kept = leaves_[static_cast<std::size_t>(leaf)];
  const auto knows = [neuron](const std::vector<Index>& list) {
    return std::find(list.begin(), list.end(), neuron) != list.end();
  };
  require(!knows(kept.kept) && !knows(kept.dropped), "mask tree: a mask is asked for twice");
  // The place that pointed to the leaf now points to the new node.
  const auto node = static_cast<Index>(nodes_.size());
  Index* place = &root_;
  while (*place >= 0) {
    Node& above = nodes_[static_cast<std::size_t>(*place)];
    const bool is_dropped =
        std::find(kept.dropped.begin(), kept.dropped.end(), above.neuron) != kept.dropped.end();
    place = is_dropped ? &above.when_dropped : &above.when_kept;
  }
  *place = node;
  nodes_.push_back({neuron, -1 - leaf, -1 - size()});
  MaskLeaf dropped = kept;
  dropped.dropped.push_back(neuron);
  dropped.probability *= mask.rate();
  kept.kept.push_back(neuron);
  kept.probability *= mask.keep();
  leaves_.push_back(std::move(dropped));
}

MaskTree grow_mask_tree(ConstVectorRef costs, const Mask& mask, Index leaves) {
  MaskTree tree;
  if (mask.kind() != Mask::Kind::Bernoulli) return tree;
  std::vector<Index> order(static_cast<std::size_t>(costs.size()));
  std::iota(order.begin(), order.end(), Index{0});
  // Stable, so that equal neurons are taken in their order on every machine.
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return costs(a) > costs(b); });
  while (!order.empty() && !(costs(order.back()) > 0.0)) order.pop_back();
  // Leaves ask in one order, so a leaf's next neuron is given by how many it knows.
  using Entry = std::pair<double, Index>;
  std::priority_queue<Entry> queue;
  const auto offer = [&](Index leaf) {
    const MaskLeaf& at = tree.leaf(leaf);
    const std::size_t known = at.kept.size() + at.dropped.size();
    if (known < order.size()) queue.emplace(at.probability * costs(order[known]), -leaf);
  };
  offer(0);
  while (tree.size() < leaves && !queue.empty()) {
    const Index leaf = -queue.top().second;
    queue.pop();
    const MaskLeaf& at = tree.leaf(leaf);
    tree.split(leaf, order[at.kept.size() + at.dropped.size()], mask);
    offer(leaf);
    offer(tree.size() - 1);
  }
  return tree;
}

}  // namespace mixcert
