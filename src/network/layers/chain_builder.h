// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Adds node after node of a plan to a canonical network under construction.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "network/layers/canonical_chain.h"
#include "network/layers/graph_plan.h"
#include "network/layers/layer_kind.h"

namespace mixcert {

class ChainBuilder {
 public:
  /// For the nodes from `first` on, which see the values plan.live_at(first); both must outlive this.
  ChainBuilder(const GraphPlan& plan, Index first, MemoryBudget& budget)
      : plan_(plan),
        first_(first),
        node_(first),
        budget_(budget),
        coordinates_(budget),
        chain_(start(plan, first, coordinates_), budget) {}

  // Of the node that is being added.

  [[nodiscard]] CanonicalChain& chain() { return chain_; }
  [[nodiscard]] MemoryBudget& budget() { return budget_; }
  [[nodiscard]] const std::string& title() const { return plan_.node(node_).title; }
  [[nodiscard]] Index input_count() const { return static_cast<Index>(plan_.node(node_).inputs.size()); }
  /// In front of it: of its first input.
  [[nodiscard]] const LayerShape& shape() const { return plan_.shape(plan_.node(node_).inputs.front()); }

  /// Noise on the network's input, where no node was added yet.
  void input_noise(const Vector& offset, const BiasCovariance& law) {
    chain_.begin({kListInput}, {kListInput});
    chain_.noise("input noise", offset, law);
    chain_.end(kListInput);
  }

  Network build(std::shared_ptr<const FeatureMap> front) {
    for (node_ = first_; node_ < plan_.size(); ++node_) {
      const PlanNode& node = plan_.node(node_);
      std::vector<Index> gone;
      for (const Index from : node.inputs) {
        if (plan_.last_use(from) == node_) {
          gone.push_back(from);
          if (node.inputs.size() == 1) continue;
        }
        coordinates_.take(node.title, 8.0 * static_cast<double>(plan_.shape(from).size()));  // listed again
      }
      chain_.begin(node.inputs, gone);
      layer_kind(*node.layer)->expand(*this);
      chain_.end(node_);
    }
    return chain_.finish(plan_.size() - 1, std::move(front));
  }

 private:
  static std::vector<std::pair<Index, Index>> start(const GraphPlan& plan, Index first,
                                                    MemoryBudget& budget) {
    std::vector<std::pair<Index, Index>> values;
    double size = 0.0;
    for (const Index k : plan.live_at(first)) {
      values.emplace_back(k, plan.shape(k).size());
      size += static_cast<double>(plan.shape(k).size());
    }
    budget.take("network", 8.0 * size);
    return values;
  }

  const GraphPlan& plan_;
  Index first_, node_;
  MemoryBudget& budget_;
  MemoryBudget coordinates_;  ///< for lists of them, beside matrices
  CanonicalChain chain_;
};

}  // namespace mixcert
