// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The chain of deterministic layers in front of a network (L.1).
#include <utility>

#include "mixcert/core/error.h"
#include "network/layers/feature_steps.h"
#include "network/layers/layer_kind.h"

namespace mixcert {
namespace {

class FeatureChain : public FeatureMap {
 public:
  FeatureChain(FeatureSteps steps, Index inputs, Index outputs)
      : steps_(std::move(steps)), inputs_(inputs), outputs_(outputs) {}

  [[nodiscard]] Index inputs() const override { return inputs_; }
  [[nodiscard]] Index outputs() const override { return outputs_; }

  [[nodiscard]] Features evaluate(ConstVectorRef input) const override {
    require(input.size() == inputs_, "network: expected an input of " + std::to_string(inputs_) +
                                         " numbers, got " + std::to_string(input.size()));
    BoundedValues state = run_steps(steps_, {input, Vector::Zero(inputs_)});
    require(state.values.allFinite() && state.errors.allFinite(),
            "network: the layers in front of the random ones overflow at this input");
    const double norm = UpperBound::of_sum(state.errors.stableNorm(), 2 * outputs_ + 16).upper;
    return {std::move(state.values), norm};
  }

 private:
  FeatureSteps steps_;
  Index inputs_;
  Index outputs_;
};

}  // namespace

BoundedValues run_steps(const FeatureSteps& steps, BoundedValues state) {
  for (const auto& step : steps) state = step->apply(std::move(state));
  return state;
}

FeatureSteps feature_steps(const std::vector<LayerSpec>& specs, LayerShape shape) {
  FeatureSteps steps;
  for (const LayerSpec& spec : specs) {
    const LayerKindPointer layer = layer_kind(spec);
    if (auto step = layer->step(shape)) steps.push_back(std::move(step));
    shape = layer->shape_after(shape);
  }
  return steps;
}

void charge_steps(const std::vector<LayerSpec>& specs, LayerShape shape, MemoryBudget& budget) {
  for (const LayerSpec& spec : specs) {
    const LayerKindPointer layer = layer_kind(spec);
    const LayerShape after = layer->shape_after(shape);
    layer->charge_step(shape, budget);
    shape = after;
  }
}

std::shared_ptr<const FeatureMap> make_feature_map(FeatureSteps steps, Index inputs, Index outputs) {
  return std::make_shared<FeatureChain>(std::move(steps), inputs, outputs);
}

}  // namespace mixcert
