// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The chain of deterministic layers in front of a network, and residual blocks in it (L.1).
#include <algorithm>
#include <utility>

#include "core/overloaded.h"
#include "mixcert/core/error.h"
#include "network/layers/feature_steps.h"

namespace mixcert {
namespace {

BoundedValues run(const FeatureSteps& steps, BoundedValues state) {
  for (const auto& step : steps) state = step->apply(std::move(state));
  return state;
}

/// x + F(x): errors add, one rounding.
class ResidualStep : public FeatureStep {
 public:
  explicit ResidualStep(FeatureSteps steps) : steps_(std::move(steps)) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    BoundedValues output = run(steps_, input);
    output.values += input.values;
    output.errors += input.errors + 2.0 * kUnitRoundoff * output.values.cwiseAbs();
    output.errors = raised(output.errors, 4);
    return output;
  }

  [[nodiscard]] double scratch_bytes() const override {
    double largest = 0.0;
    for (const auto& step : steps_) largest = std::max(largest, step->scratch_bytes());
    return largest;
  }

 private:
  FeatureSteps steps_;
};

class FeatureChain : public FeatureMap {
 public:
  FeatureChain(FeatureSteps steps, Index inputs, Index outputs)
      : steps_(std::move(steps)), inputs_(inputs), outputs_(outputs) {}

  [[nodiscard]] Index inputs() const override { return inputs_; }
  [[nodiscard]] Index outputs() const override { return outputs_; }

  [[nodiscard]] Features evaluate(ConstVectorRef input) const override {
    require(input.size() == inputs_, "network: expected an input of " + std::to_string(inputs_) +
                                         " numbers, got " + std::to_string(input.size()));
    BoundedValues state = run(steps_, {input, Vector::Zero(inputs_)});
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

/// Null where the layer changes nothing.
std::unique_ptr<FeatureStep> make_step(const LayerSpec& spec, const LayerShape& shape) {
  using Step = std::unique_ptr<FeatureStep>;
  return std::visit(
      Overloaded{[](const DenseSpec& dense) -> Step { return dense_step(dense.layer); },
                 [](const Conv2dSpec& convolution) -> Step { return convolution_step(convolution); },
                 [&](const AvgPool2dSpec& pool) -> Step { return average_pool_step(pool.window, shape); },
                 [&](const MaxPool2dSpec& pool) -> Step { return max_pool_step(pool.window, shape); },
                 [&](const BatchNormSpec& norm) -> Step { return batch_norm_step(norm, shape); },
                 [](const ActivationSpec& elementwise) -> Step {
                   if (elementwise.activation.function() == ActivationFunction::Identity) return nullptr;
                   return activation_step(elementwise.activation);
                 },
                 [&](const ResidualSpec& residual) -> Step {
                   return std::make_unique<ResidualStep>(feature_steps(residual.layers, shape));
                 },
                 [](const auto&) -> Step { return nullptr; }},
      spec.variant());
}

}  // namespace

FeatureSteps feature_steps(const std::vector<LayerSpec>& specs, LayerShape shape) {
  FeatureSteps steps;
  for (const LayerSpec& spec : specs) {
    if (auto step = make_step(spec, shape)) steps.push_back(std::move(step));
    shape = shape_after(spec, shape);
  }
  return steps;
}

std::shared_ptr<const FeatureMap> make_feature_map(FeatureSteps steps, Index inputs, Index outputs) {
  return std::make_shared<FeatureChain>(std::move(steps), inputs, outputs);
}

}  // namespace mixcert
