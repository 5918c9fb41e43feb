// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks whose neurons have scales of their own, so that no factor per layer brings them back to ordinary
// numbers.
#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "certify/scale_networks.h"

namespace mixcert::testing {
namespace {

/// Rows of a mean-field layer multiplied, each by its own power of two.
DenseLayer with_odd_rows(const DenseLayer& layer, const std::vector<int>& rows,
                         const std::vector<int>& columns) {
  const auto* law = std::get_if<MeanFieldWeights>(&layer.weights());
  Matrix mean = layer.weight_mean();
  Vector bias = layer.bias_mean();
  Matrix variance = law != nullptr ? law->variance : Matrix::Zero(mean.rows(), mean.cols());
  Vector bias_variance = layer.bias_variances();
  for (Index i = 0; i < mean.rows(); ++i) {
    const int row = rows[static_cast<std::size_t>(i)];
    for (Index j = 0; j < mean.cols(); ++j) {
      const int exponent = std::clamp(row + columns[static_cast<std::size_t>(j)], -490, 490);
      mean(i, j) = std::ldexp(mean(i, j), exponent);
      variance(i, j) = std::ldexp(variance(i, j), 2 * exponent);
    }
    bias(i) = std::ldexp(bias(i), row);
    bias_variance(i) = std::ldexp(bias_variance(i), 2 * row);
  }
  WeightCovariance weights = DeterministicWeights{};
  if (law != nullptr) weights = MeanFieldWeights{variance, law->law};
  BiasCovariance noise = DeterministicBias{};
  if (bias_variance.maxCoeff() > 0.0) noise = IndependentBias{bias_variance};
  return {layer.name(), mean, bias, std::move(weights), std::move(noise)};
}

int odd_exponent(Generator& generator) {
  switch (generator() % 6) {
    case 0:
    case 1:
      return 0;
    case 2:
      return random_between(generator, -280, -260);
    case 3:
      return random_between(generator, -490, 490);
    case 4:
      return random_between(generator, 240, 280);
    default:
      return random_between(generator, -60, 60);
  }
}

/// The neurons of a layer: all with a scale of their own, or some with one scale and the rest ordinary.
std::vector<int> odd_exponents(Generator& generator, Index count) {
  const bool common = generator() % 2 == 0;
  const int exponent = odd_exponent(generator);
  std::vector<int> exponents;
  for (Index i = 0; i < count; ++i) {
    exponents.push_back(!common ? odd_exponent(generator) : generator() % 2 == 0 ? exponent : 0);
  }
  return exponents;
}

/// Some leaky_relu with a slope that is nearly zero or enormous.
Activation odd_activation(const Activation& activation, Generator& generator) {
  if (activation.function() != ActivationFunction::LeakyRelu || generator() % 2 == 0) return activation;
  return Activation(ActivationFunction::LeakyRelu, std::ldexp(1.0, odd_exponent(generator)));
}

}  // namespace

ScaleCase odd_case(std::uint64_t index) {
  ScaleCase base = scale_case(index, index % 3 == 0);
  Generator generator = make_generator(index, Stream::Example, 7009);
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  std::vector<Mask> masks;
  std::vector<int> before(static_cast<std::size_t>(base.network.inputs()), 0);
  if (generator() % 3 == 0) before = odd_exponents(generator, base.network.inputs());
  for (std::size_t j = 0; j < before.size(); ++j) {
    base.inputs.row(static_cast<Index>(j)) = shifted(base.inputs.row(static_cast<Index>(j)), before[j]);
  }
  for (Index k = 0; k < base.network.layer_count(); ++k) {
    const DenseLayer& layer = base.network.layer(k);
    const bool is_mean_field = std::holds_alternative<MeanFieldWeights>(layer.weights()) &&
                               !std::holds_alternative<CorrelatedBias>(layer.bias());
    // Columns undo what the rows before them did, or leave some of it; outputs are ordinary half of the time.
    std::vector<int> columns = before;
    const bool undone = generator() % 3 != 0;
    for (int& c : columns) c = undone || generator() % 2 == 0 ? -c : 0;
    std::vector<int> rows = odd_exponents(generator, layer.outputs());
    if (k + 1 == base.network.layer_count() && generator() % 2 == 0) std::fill(rows.begin(), rows.end(), 0);
    if (is_mean_field || std::holds_alternative<DeterministicWeights>(layer.weights())) {
      layers.push_back(with_odd_rows(layer, rows, columns));
    } else {
      const int exponent = rows.front();
      const int first = undone ? columns.front() : 0;
      layers.push_back(scaled_layer(layer, std::clamp(exponent + first, -490, 490), exponent, generator));
      std::fill(rows.begin(), rows.end(), exponent);
    }
    activations.emplace_back(odd_activation(base.network.activation(k).common(), generator));
    masks.push_back(base.network.mask(k));
    before = rows;
  }
  base.network = Network(std::move(layers), std::move(activations), std::move(masks));
  return base;
}

}  // namespace mixcert::testing
