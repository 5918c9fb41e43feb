// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Laws of layers after changes that keep their family.
#include "network/layers/layer_transforms.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/overloaded.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

Matrix scaled_covariance(const Matrix& covariance, const Vector& scale) {
  return scale.asDiagonal() * covariance * scale.asDiagonal();
}

/// Entry i of `scale` for each of the `columns` entries of row i.
Vector repeated(const Vector& scale, Index columns) {
  return scale.transpose().replicate(columns, 1).reshaped();
}

SharedWeights scaled_shared(SharedWeights law, const Vector& scale) {
  const Vector original = law.variance;
  for (const auto& place : law.places) {
    // The rows of a parameter have one scale: can_scale_rows.
    law.variance(place.parameter) = scale(place.row) * scale(place.row) * original(place.parameter);
  }
  return law;
}

WeightCovariance scaled_weights(const WeightCovariance& weights, const Vector& scale, Index inputs) {
  const Vector squares = scale.cwiseAbs2();
  return std::visit(
      Overloaded{
          [](const DeterministicWeights& law) -> WeightCovariance { return law; },
          [&](const MeanFieldWeights& law) -> WeightCovariance {
            return MeanFieldWeights{squares.asDiagonal() * law.variance, law.law};
          },
          [&](const KroneckerWeights& law) -> WeightCovariance {
            return KroneckerWeights{scaled_covariance(law.row_covariance, scale), law.column_covariance};
          },
          [&](const KroneckerEigenbasisWeights& law) -> WeightCovariance {
            return KroneckerEigenbasisWeights{scale.asDiagonal() * law.row_basis, law.column_basis,
                                              law.variance};
          },
          [&](const LowRankWeights& law) -> WeightCovariance {
            LowRankWeights scaled = law;
            scaled.variance = squares.asDiagonal() * law.variance;
            for (Matrix& column : scaled.factor) column = scale.asDiagonal() * column;
            if (law.bias_factor.size() > 0) scaled.bias_factor = scale.asDiagonal() * law.bias_factor;
            return scaled;
          },
          [&](const FullWeights& law) -> WeightCovariance {
            return FullWeights{scaled_covariance(law.covariance, repeated(scale, inputs))};
          },
          [&](const JointWeights& law) -> WeightCovariance {
            return JointWeights{scaled_covariance(law.covariance, repeated(scale, inputs + 1))};
          },
          [&](const SharedWeights& law) -> WeightCovariance { return scaled_shared(law, scale); }},
      weights);
}

BiasCovariance scaled_bias(const BiasCovariance& bias, const Vector& scale) {
  return std::visit(
      Overloaded{[](const DeterministicBias& law) -> BiasCovariance { return law; },
                 [&](const IndependentBias& law) -> BiasCovariance {
                   return IndependentBias{scale.cwiseAbs2().cwiseProduct(law.variance), law.law};
                 },
                 [&](const CorrelatedBias& law) -> BiasCovariance {
                   return CorrelatedBias{scaled_covariance(law.covariance, scale)};
                 }},
      bias);
}

/// Of two independent laws, where one family holds it.
std::optional<BiasCovariance> sum(const BiasCovariance& one, const BiasCovariance& other) {
  if (is_deterministic(one)) return other;
  if (is_deterministic(other)) return one;
  const Vector* first = independent_variances(one);
  const Vector* second = independent_variances(other);
  const bool normal = entry_law(one).is_normal() && entry_law(other).is_normal();
  if (first == nullptr || second == nullptr || !normal) return {};
  return IndependentBias{*first + *second};
}

}  // namespace

bool can_scale_rows(const DenseLayer& layer, const Vector& scale) {
  return std::visit(
      Overloaded{
          [&](const SharedWeights& law) {
            std::vector<std::optional<double>> of(static_cast<std::size_t>(law.variance.size()));
            return std::all_of(law.places.begin(), law.places.end(), [&](const auto& place) {
              auto& known = of[static_cast<std::size_t>(place.parameter)];
              if (!known) known = scale(place.row);
              return *known == scale(place.row);
            });
          },
          [](const OneOf<DeterministicWeights, MeanFieldWeights, KroneckerWeights, KroneckerEigenbasisWeights,
                         LowRankWeights, FullWeights, JointWeights> auto&) { return true; }},
      layer.weights());
}

DenseLayer scaled_rows(const DenseLayer& layer, const Vector& scale, const Vector& shift) {
  return {layer.name(), scale.asDiagonal() * layer.weight_mean(),
          scale.cwiseProduct(layer.bias_mean()) + shift,
          scaled_weights(layer.weights(), scale, layer.inputs()), scaled_bias(layer.bias(), scale)};
}

std::optional<DenseLayer> with_noise(const DenseLayer& layer, const Vector& offset,
                                     const BiasCovariance& noise) {
  if (includes_bias(layer.weights())) return {};
  std::optional<BiasCovariance> bias = sum(layer.bias(), noise);
  if (!bias) return {};
  return DenseLayer(layer.name(), layer.weight_mean(), layer.bias_mean() + offset, layer.weights(),
                    *std::move(bias));
}

DenseLayer identity_layer(const std::string& name, Index size, Vector offset, BiasCovariance noise) {
  return {name, Matrix::Identity(size, size), std::move(offset), DeterministicWeights{}, std::move(noise)};
}

}  // namespace mixcert
