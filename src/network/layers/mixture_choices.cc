// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A counter with one digit per mixture layer.
#include "network/layers/mixture_choices.h"

namespace mixcert {
namespace {

void collect_sizes(const std::vector<LayerSpec>& layers, std::vector<std::size_t>& sizes) {
  for (const LayerSpec& spec : layers) {
    if (const auto* mixture = std::get_if<MixtureSpec>(&spec.variant()))
      sizes.push_back(mixture->alternatives.size());
    if (const auto* residual = std::get_if<ResidualSpec>(&spec.variant()))
      collect_sizes(residual->layers, sizes);
  }
}

/// `digit` moves on by one per mixture.
std::vector<LayerSpec> chosen(const std::vector<LayerSpec>& layers,
                              std::vector<std::size_t>::const_iterator& digit, double& weight) {
  std::vector<LayerSpec> result;
  result.reserve(layers.size());
  for (const LayerSpec& spec : layers) {
    if (const auto* mixture = std::get_if<MixtureSpec>(&spec.variant())) {
      weight *= mixture->weights[*digit];
      result.emplace_back(mixture->alternatives[*digit++]);
    } else if (const auto* residual = std::get_if<ResidualSpec>(&spec.variant())) {
      result.emplace_back(ResidualSpec{chosen(residual->layers, digit, weight)});
    } else {
      result.push_back(spec);
    }
  }
  return result;
}

}  // namespace

MixtureChoices::MixtureChoices(const std::vector<LayerSpec>& layers) : layers_(layers) {
  collect_sizes(layers, sizes_);
  digits_.resize(sizes_.size(), 0);
}

double MixtureChoices::count() const {
  double product = 1.0;
  for (const std::size_t size : sizes_) product *= static_cast<double>(size);
  return product;
}

MixtureChoices::Choice MixtureChoices::current() const {
  Choice choice;
  auto digit = digits_.begin();
  choice.layers = chosen(layers_, digit, choice.weight);
  return choice;
}

bool MixtureChoices::next() {
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    if (++digits_[i] < sizes_[i]) return true;
    digits_[i] = 0;
  }
  return false;
}

}  // namespace mixcert
