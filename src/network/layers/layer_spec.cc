// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Names and randomness of layer specifications.
#include "mixcert/network/layer_spec.h"

#include <algorithm>
#include <array>

#include "core/overloaded.h"

namespace mixcert {

std::string_view type_name(const LayerSpec& spec) {
  static constexpr std::array<std::string_view, std::variant_size_v<LayerSpecVariant>> kNames = {
      "dense",      "conv2d",  "avg_pool2d",       "max_pool2d",     "flatten",  "batch_norm",
      "activation", "dropout", "gaussian_dropout", "gaussian_noise", "residual", "mixture"};
  return kNames[spec.index()];
}

std::string title(const LayerSpec& spec) {
  const auto named = [&](const std::string& name) {
    return std::string(type_name(spec)) + " '" + name + "'";
  };
  return std::visit(Overloaded{[&](const DenseSpec& dense) { return named(dense.layer.name()); },
                               [&](const Conv2dSpec& convolution) { return named(convolution.name); },
                               [&](const BatchNormSpec& norm) { return named(norm.name); },
                               [&](const auto&) { return std::string(type_name(spec)); }},
                    spec.variant());
}

bool is_deterministic(const Conv2dSpec& spec) {
  const auto all_zero = [](const Vector& variance) { return variance.size() == 0 || variance.isZero(0.0); };
  return all_zero(spec.kernel_variance) && all_zero(spec.bias_variance);
}

bool is_deterministic(const LayerSpec& spec) {
  return std::visit(Overloaded{[](const DenseSpec& dense) { return dense.layer.is_deterministic(); },
                               [](const Conv2dSpec& convolution) { return is_deterministic(convolution); },
                               [](const DropoutSpec& dropout) { return dropout.rate == 0.0; },
                               [](const GaussianDropoutSpec& dropout) { return dropout.rate == 0.0; },
                               [](const GaussianNoiseSpec& noise) { return noise.deviation == 0.0; },
                               [](const ResidualSpec& residual) {
                                 return std::all_of(
                                     residual.layers.begin(), residual.layers.end(),
                                     [](const LayerSpec& layer) { return is_deterministic(layer); });
                               },
                               [](const MixtureSpec&) { return false; }, [](const auto&) { return true; }},
                    spec.variant());
}

}  // namespace mixcert
