// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Dropout and Gaussian dropout: factors of mean one, masks of the canonical network (L.5).
#include "mixcert/core/error.h"
#include "mixcert/network/network.h"
#include "network/layers/kind_bases.h"

namespace mixcert {
namespace {

class DropoutKind final : public NoiseLayer<DropoutSpec> {
 public:
  using NoiseLayer::NoiseLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const override { return {{"rate", spec().rate}}; }
  void check_numbers() const override { Mask::bernoulli(spec().rate); }
  [[nodiscard]] bool is_deterministic() const override { return spec().rate == 0.0; }
  void expand(ChainBuilder& builder) const override {
    builder.chain().mask(builder.title(), Mask::bernoulli(spec().rate));
  }
  void add_to(GraphBuilder& builder) const override {
    builder.mask(title(), Mask::bernoulli(spec().rate), 1);
  }
};

class Dropout2dKind final : public NoiseLayer<Dropout2dSpec> {
 public:
  using NoiseLayer::NoiseLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const override { return {{"rate", spec().rate}}; }
  void check_numbers() const override { Mask::bernoulli(spec().rate); }
  [[nodiscard]] bool is_deterministic() const override { return spec().rate == 0.0; }
  [[nodiscard]] bool has_structure() const override { return true; }
  /// The canonical network has a factor for each neuron.
  void expand(ChainBuilder& builder) const override {
    require(spec().rate == 0.0 || builder.shape().positions() == 1,
            "dropout2d: drops whole channels, for which there is no formal bound; certify --simulate has one "
            "that "
            "is certified by simulation");
    builder.chain().mask(builder.title(), Mask::bernoulli(spec().rate));
  }
  void add_to(GraphBuilder& builder) const override {
    builder.mask(title(), Mask::bernoulli(spec().rate), builder.shape().positions());
  }
};

class GaussianDropoutKind final : public NoiseLayer<GaussianDropoutSpec> {
 public:
  using NoiseLayer::NoiseLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const override { return {{"rate", spec().rate}}; }
  void check_numbers() const override { Mask::gaussian(spec().rate); }
  [[nodiscard]] bool is_deterministic() const override { return spec().rate == 0.0; }
  void expand(ChainBuilder& builder) const override {
    builder.chain().mask(builder.title(), Mask::gaussian(spec().rate));
  }
  void add_to(GraphBuilder& builder) const override { builder.mask(title(), Mask::gaussian(spec().rate), 1); }
};

}  // namespace

NewLayerKind kind(const Dropout2dSpec& spec) { return std::make_unique<Dropout2dKind>(spec); }
NewLayerKind kind(const DropoutSpec& spec) { return std::make_unique<DropoutKind>(spec); }
NewLayerKind kind(const GaussianDropoutSpec& spec) { return std::make_unique<GaussianDropoutKind>(spec); }

}  // namespace mixcert
