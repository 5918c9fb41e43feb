// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Independent Gaussian noise on every value: the bias of an identity layer, or of the layer before (L.5).
#include <cmath>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "network/layers/kind_bases.h"

namespace mixcert {
namespace {

class GaussianNoiseKind final : public NoiseLayer<GaussianNoiseSpec> {
 public:
  using NoiseLayer::NoiseLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const override { return {{"std", spec().deviation}}; }
  void check_numbers() const override {
    require(
        spec().deviation >= 0.0 && std::isfinite(spec().deviation),
        "gaussian_noise: std: expected a finite number, at least 0, got " + format_number(spec().deviation));
  }
  [[nodiscard]] bool is_deterministic() const override { return spec().deviation == 0.0; }
  void expand(ChainBuilder& builder) const override {
    if (spec().deviation == 0.0) return;
    const Index size = builder.shape().size();
    builder.chain().noise("noise", Vector::Zero(size),
                          IndependentBias{Vector::Constant(size, spec().deviation * spec().deviation)});
  }
  void add_to(GraphBuilder& builder) const override {
    const Index size = builder.shape().size();
    if (spec().deviation > 0.0)
      builder.affine(title(), noise_operator(Vector::Constant(size, spec().deviation), Vector::Zero(size)));
  }
};

}  // namespace

NewLayerKind kind(const GaussianNoiseSpec& spec) { return std::make_unique<GaussianNoiseKind>(spec); }

}  // namespace mixcert
