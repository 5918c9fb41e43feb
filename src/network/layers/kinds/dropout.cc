// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Dropout and Gaussian dropout: factors of mean one, masks of the canonical network (L.5).
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
  void expand(ChainBuilder& builder) const override { builder.chain().mask(Mask::bernoulli(spec().rate)); }
};

class GaussianDropoutKind final : public NoiseLayer<GaussianDropoutSpec> {
 public:
  using NoiseLayer::NoiseLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const override { return {{"rate", spec().rate}}; }
  void check_numbers() const override { Mask::gaussian(spec().rate); }
  [[nodiscard]] bool is_deterministic() const override { return spec().rate == 0.0; }
  void expand(ChainBuilder& builder) const override { builder.chain().mask(Mask::gaussian(spec().rate)); }
};

}  // namespace

LayerKindPointer kind(const DropoutSpec& spec) { return std::make_unique<DropoutKind>(spec); }
LayerKindPointer kind(const GaussianDropoutSpec& spec) { return std::make_unique<GaussianDropoutKind>(spec); }

}  // namespace mixcert
