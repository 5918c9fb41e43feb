// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A counter with one digit per mixture layer.
#include "network/layers/mixture_choices.h"

#include <utility>

#include "network/layers/layer_kind.h"

namespace mixcert {

MixtureChoices::MixtureChoices(const std::vector<LayerSpec>& layers) : layers_(layers) {
  for (const LayerSpec& spec : layers) layer_kind(spec)->count_choices(sizes_);
  digits_.resize(sizes_.size(), 0);
}

double MixtureChoices::count() const {
  double product = 1.0;
  for (const std::size_t size : sizes_) product *= static_cast<double>(size);
  return product;
}

MixtureChoices::Choice MixtureChoices::current() const {
  ChoiceCursor cursor{digits_.begin()};
  std::vector<LayerSpec> layers;
  layers.reserve(layers_.size());
  for (const LayerSpec& spec : layers_) layers.push_back(in_place_of(spec, layer_kind(spec)->chosen(cursor)));
  return {cursor.weight, std::move(layers)};
}

bool MixtureChoices::next() {
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    if (++digits_[i] < sizes_[i]) return true;
    digits_[i] = 0;
  }
  return false;
}

}  // namespace mixcert
