// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "methods/graph/pair_rounds.h"

#include <algorithm>
#include <utility>

namespace mixcert {
namespace {

/// One round: pairs of every window, and where the pairs of a window stand in the next round.
struct Round {
  std::vector<std::vector<Index>> pairs, next;
};

Round one_round(const std::vector<std::vector<Index>>& windows) {
  Round round;
  for (const std::vector<Index>& window : windows) {
    std::vector<Index>& places = round.next.emplace_back();
    for (std::size_t i = 0; i < window.size(); i += 2) {
      places.push_back(static_cast<Index>(round.pairs.size()));
      round.pairs.emplace_back(window.begin() + static_cast<std::ptrdiff_t>(i),
                               window.begin() + static_cast<std::ptrdiff_t>(std::min(i + 2, window.size())));
    }
  }
  return round;
}

std::vector<Index> reader_counts(const LayerGraph& graph) {
  std::vector<Index> counts(static_cast<std::size_t>(graph.size()));
  for (Index k = 0; k < graph.size(); ++k) {
    for (const Index j : graph.node(k).from) ++counts[static_cast<std::size_t>(j)];
  }
  return counts;
}

/// The activation in front of maximum k that may change places with it; null: there is none.
const GraphNode* movable_activation(const LayerGraph& graph, const std::vector<Index>& readers, Index k) {
  if (!std::holds_alternative<MaximumNode>(graph.node(k).work)) return nullptr;
  const Index before = graph.node(k).from.front();
  const GraphNode& node = graph.node(before);
  const auto* own = std::get_if<ActivationNode>(&node.work);
  if (own == nullptr || readers[static_cast<std::size_t>(before)] != 1) return nullptr;
  return own->activation.slope_range().low >= 0.0 ? &node : nullptr;
}

class Rewriter {
 public:
  explicit Rewriter(const LayerGraph& graph) : graph_(graph), readers_(reader_counts(graph)) {}

  std::vector<GraphNode> run() {
    for (Index k = 0; k < graph_.size(); ++k) {
      const GraphNode& node = graph_.node(k);
      if (moves_back(k)) {
        places_.push_back(place(node.from.front()));
      } else if (const auto* maximum = std::get_if<MaximumNode>(&node.work)) {
        add_rounds(*maximum, k);
      } else {
        GraphNode copy = node;
        for (Index& from : copy.from) from = place(from);
        add(std::move(copy));
        places_.push_back(last());
      }
    }
    return std::move(nodes_);
  }

 private:
  [[nodiscard]] Index place(Index k) const { return places_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] Index last() const { return static_cast<Index>(nodes_.size()) - 1; }
  void add(GraphNode node) { nodes_.push_back(std::move(node)); }

  [[nodiscard]] bool moves_back(Index k) const {
    for (Index reader = k + 1; reader < graph_.size(); ++reader) {
      if (movable_activation(graph_, readers_, reader) == &graph_.node(k)) return true;
    }
    return false;
  }

  void add_rounds(const MaximumNode& maximum, Index k) {
    const GraphNode& node = graph_.node(k);
    const Index channels = node.size / static_cast<Index>(maximum.windows.size());
    std::vector<std::vector<Index>> windows = maximum.windows;
    Index before = place(node.from.front()), pixels = maximum.pixels;
    bool is_done = false;
    while (!is_done) {
      is_done =
          std::all_of(windows.begin(), windows.end(), [](const auto& window) { return window.size() <= 2; });
      Round round = one_round(windows);
      const auto count = static_cast<Index>(round.pairs.size());
      add({node.title, {before}, channels * count, MaximumNode{std::move(round.pairs), pixels}});
      windows = std::move(round.next);
      before = last();
      pixels = count;
    }
    if (const GraphNode* moved = movable_activation(graph_, readers_, k))
      add({moved->title, {before}, node.size, moved->work});
    places_.push_back(last());
  }

  const LayerGraph& graph_;
  std::vector<Index> readers_, places_;
  std::vector<GraphNode> nodes_;
};

}  // namespace

LayerGraph in_pair_rounds(const LayerGraph& graph) { return LayerGraph(Rewriter(graph).run()); }

std::vector<ValuePair> value_pairs(const MaximumNode& node, Index outputs) {
  const auto windows = static_cast<Index>(node.windows.size());
  std::vector<ValuePair> pairs;
  for (Index at = 0; at < outputs; ++at) {
    const std::vector<Index>& window = node.windows[static_cast<std::size_t>(at % windows)];
    const Index plane = at / windows * node.pixels;
    pairs.push_back({plane + window.front(), plane + window.back()});
  }
  return pairs;
}

double most_readers(const MaximumNode& node) {
  std::vector<double> counts(static_cast<std::size_t>(node.pixels));
  for (const std::vector<Index>& window : node.windows) {
    for (const Index pixel : window) ++counts[static_cast<std::size_t>(pixel)];
  }
  return *std::max_element(counts.begin(), counts.end());
}

}  // namespace mixcert
