// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Answers that kinds of layers have in common, for the sources in kinds/. A kind says by its base what it
// has none of.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "network/graph/layer_graph.h"
#include "network/layers/canonical_chain.h"
#include "network/layers/chain_builder.h"
#include "network/layers/feature_steps.h"
#include "network/layers/layer_kind.h"

namespace mixcert {

template <class Spec>
class KindOf : public LayerKind {
 public:
  explicit KindOf(const Spec& spec) : spec_(spec) {}

  [[nodiscard]] std::string_view type() const final { return Spec::kType; }
  [[nodiscard]] const std::string* name() const override {
    if constexpr (requires { spec_.name; }) return &spec_.name;
    return nullptr;
  }

 protected:
  [[nodiscard]] const Spec& spec() const { return spec_; }

 private:
  const Spec& spec_;
};

/// Sees one entry.
template <class Spec>
class OneInput : public KindOf<Spec> {
 public:
  using KindOf<Spec>::KindOf;

  [[nodiscard]] LayerShape shape_behind(const std::vector<LayerShape>& before) const final {
    return geometry(before.front());
  }
  [[nodiscard]] std::unique_ptr<FeatureStep> make_step(const std::vector<LayerShape>& before) const final {
    return step(before.front());
  }
  void charge(const std::vector<LayerShape>& before, MemoryBudget& budget) const final {
    charge_step(before.front(), budget);
  }

  // What LayerKind asks, of the one input.
  [[nodiscard]] virtual LayerShape geometry(const LayerShape& before) const = 0;
  [[nodiscard]] virtual std::unique_ptr<FeatureStep> step(const LayerShape& before) const = 0;
  virtual void charge_step(const LayerShape& before, MemoryBudget& budget) const = 0;
};

/// No layers inside it. `Base` says how many entries it sees.
template <class Spec, class Base = OneInput<Spec>>
class SingleLayer : public Base {
 public:
  using Base::Base;

  [[nodiscard]] InnerLayers inner() const final { return {}; }
  [[nodiscard]] std::optional<LayerSpec> named(const std::string& place) const override {
    if constexpr (requires(Spec spec) { spec.name; }) {
      if (this->spec().name.empty()) {
        Spec copy = this->spec();
        copy.name = place;
        return LayerSpec(std::move(copy));
      }
    }
    return {};
  }
  void count_choices(std::vector<std::size_t>& /*sizes*/) const final {}
  [[nodiscard]] LayerSpec chosen(ChoiceCursor& /*cursor*/) const final { return this->spec(); }
};

/// Never random.
template <class Spec, class Base = OneInput<Spec>>
class DeterministicLayer : public SingleLayer<Spec, Base> {
 public:
  using SingleLayer<Spec, Base>::SingleLayer;

  [[nodiscard]] bool is_deterministic() const final { return true; }
  [[nodiscard]] LayerSpec without_noise() const final { return this->spec(); }
};

/// Acts on every value by itself, whatever the shape, and has no tensors. `Base` is one of the above.
template <class Base>
class Elementwise : public Base {
 public:
  using Base::Base;

  [[nodiscard]] OwnTensors tensors() const final { return {}; }
  [[nodiscard]] LayerShape geometry(const LayerShape& before) const final { return before; }
  void tell_input(InputShape& /*input*/) const final {}
  [[nodiscard]] bool has_structure() const override { return false; }
  void charge_step(const LayerShape& /*before*/, MemoryBudget& /*budget*/) const final {}
};

/// Noise on every value, which leaves an identity where it is taken out. An identity and not nothing: a
/// residual block may hold no other layer.
template <class Spec>
class NoiseLayer : public Elementwise<SingleLayer<Spec>> {
 public:
  using Elementwise<SingleLayer<Spec>>::Elementwise;

  [[nodiscard]] LayerSpec without_noise() const final {
    return ActivationSpec{Activation(ActivationFunction::Identity)};
  }
  /// Asked where it is deterministic: there is no noise then.
  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& /*before*/) const final {
    return nullptr;
  }
};

}  // namespace mixcert
