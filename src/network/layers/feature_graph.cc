// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The deterministic layers in front of a network (L.1): a graph of steps, whose features are all values that
// later layers need, one after the other (O.20).
#include <algorithm>
#include <utility>

#include "mixcert/core/error.h"
#include "network/layers/feature_steps.h"
#include "network/layers/graph_plan.h"
#include "network/layers/layer_expansion.h"
#include "network/layers/layer_kind.h"

namespace mixcert {
namespace {

/// One layer of the front.
struct FeatureNode {
  std::unique_ptr<FeatureStep> step;  ///< null: it changes nothing
  std::vector<std::size_t> inputs;    ///< places of values: 0 is the network's input, k + 1 node k
  std::vector<bool> is_last_look;     ///< of each input: nobody needs it afterwards
};

class FeatureGraph : public FeatureMap {
 public:
  FeatureGraph(const GraphPlan& plan, Index cut) : inputs_(plan.input().size()) {
    for (Index k = 0; k < cut; ++k) {
      const PlanNode& own = plan.node(k);
      FeatureNode node{layer_kind(*own.layer)->make_step(plan.shapes_before(k)), {}, {}};
      for (std::size_t i = 0; i < own.inputs.size(); ++i) {
        const Index from = own.inputs[i];
        node.inputs.push_back(place(from));
        // One that is looked at twice goes with the second look.
        const bool again = std::find(own.inputs.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                     own.inputs.end(), from) != own.inputs.end();
        node.is_last_look.push_back(plan.last_use(from) == k && !again);
      }
      nodes_.push_back(std::move(node));
    }
    for (const Index k : plan.live_at(cut)) {
      features_.push_back(place(k));
      outputs_ += plan.shape(k).size();
    }
  }

  [[nodiscard]] Index inputs() const override { return inputs_; }
  [[nodiscard]] Index outputs() const override { return outputs_; }
  /// Are the features the inputs as they are?
  [[nodiscard]] bool is_identity() const {
    return features_.size() == 1 && std::all_of(nodes_.begin(), nodes_.end(), [](const FeatureNode& node) {
             return node.step == nullptr && node.inputs.size() == 1;
           });
  }

  [[nodiscard]] Features evaluate(ConstVectorRef input) const override {
    BoundedValues all = bounded(input, Vector::Zero(inputs_));
    const double norm = UpperBound::of_sum(all.errors.stableNorm(), 2 * outputs_ + 16).upper;
    return {std::move(all.values), norm};
  }

  /// To (L.1) it makes no difference why an input is not quite what it is taken for.
  [[nodiscard]] Vector reach(ConstVectorRef input, ConstVectorRef half_widths) const override {
    const Vector both = bounded(input, half_widths).errors + bounded(input, Vector::Zero(inputs_)).errors;
    return raised(both, 1);
  }

 private:
  /// The features, each with a bound of its distance to those of any x with |x - input| <= errors.
  [[nodiscard]] BoundedValues bounded(ConstVectorRef input, ConstVectorRef errors) const {
    require(input.size() == inputs_, "network: expected an input of " + std::to_string(inputs_) +
                                         " numbers, got " + std::to_string(input.size()));
    std::vector<BoundedValues> values(nodes_.size() + 1);
    values.front() = {input, errors};
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const FeatureNode& node = nodes_[k];
      BoundedValues seen = joined(values, node.inputs, node.is_last_look);
      values[k + 1] = node.step ? node.step->apply(std::move(seen)) : std::move(seen);
    }
    BoundedValues all = joined(values, features_, std::vector<bool>(features_.size(), true));
    require(all.values.allFinite() && all.errors.allFinite(),
            "network: the layers in front of the random ones overflow at this input");
    return all;
  }

  static std::size_t place(Index k) { return static_cast<std::size_t>(k + 1); }

  /// The values at these places one after the other; those that are looked at for the last time go.
  static BoundedValues joined(std::vector<BoundedValues>& values, const std::vector<std::size_t>& places,
                              const std::vector<bool>& is_last_look) {
    if (places.size() == 1) {
      BoundedValues& only = values[places.front()];
      return is_last_look.front() ? std::move(only) : only;
    }
    Index size = 0;
    for (const std::size_t at : places) size += values[at].values.size();
    BoundedValues all{Vector(size), Vector(size)};
    Index begin = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      BoundedValues& own = values[places[i]];
      const Index count = own.values.size();
      all.values.segment(begin, count) = own.values;
      all.errors.segment(begin, count) = own.errors;
      begin += count;
      if (is_last_look[i]) own = {};
    }
    return all;
  }

  Index inputs_;
  Index outputs_ = 0;
  std::vector<FeatureNode> nodes_;
  std::vector<std::size_t> features_;
};

}  // namespace

void charge_steps(const GraphPlan& plan, Index last, MemoryBudget& budget) {
  budget.ask("values that pass other layers", 16.0 * plan.most_passing(last));
  for (Index k = 0; k < last; ++k) layer_kind(*plan.node(k).layer)->charge(plan.shapes_before(k), budget);
}

std::shared_ptr<const FeatureMap> make_feature_map(const GraphPlan& plan, Index cut) {
  auto map = std::make_shared<const FeatureGraph>(plan, cut);
  if (map->is_identity()) return nullptr;
  return map;
}

}  // namespace mixcert
