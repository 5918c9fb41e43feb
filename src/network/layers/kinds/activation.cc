// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Activations between layers.
#include <cmath>

#include "network/layers/kind_bases.h"

namespace mixcert {
namespace {

class ActivationStep : public FeatureStep {
 public:
  explicit ActivationStep(const Activation& activation) : activation_(activation) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    const double lipschitz = activation_.lipschitz().upper;
    for (Index i = 0; i < input.values.size(); ++i) {
      input.errors(i) = lipschitz * input.errors(i) + activation_.value_error(std::abs(input.values(i)));
      input.values(i) = activation_(input.values(i));
    }
    input.errors = raised(input.errors, 2);
    return input;
  }

 private:
  Activation activation_;
};

class ActivationKind final : public Elementwise<DeterministicLayer<ActivationSpec>> {
 public:
  using Elementwise::Elementwise;

  [[nodiscard]] std::vector<LayerDetail> details() const override {
    return {{std::string(to_string(spec().activation.function()))}};
  }
  /// Activation has checked its slope.
  void check_numbers() const override {}
  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& /*before*/) const override {
    if (spec().activation.function() == ActivationFunction::Identity) return nullptr;
    return std::make_unique<ActivationStep>(spec().activation);
  }
  void expand(ChainBuilder& builder) const override { builder.chain().activation(spec().activation); }
  void add_to(GraphBuilder& builder) const override {
    builder.activation(std::string(to_string(spec().activation.function())), spec().activation);
  }
};

}  // namespace

NewLayerKind kind(const ActivationSpec& spec) { return std::make_unique<ActivationKind>(spec); }

}  // namespace mixcert
