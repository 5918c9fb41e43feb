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

[[noreturn]] void refuse_in_residual(const DenseLayer& layer) {
  throw InvalidArgument("residual: layer '" + layer.name() +
                        "': expected deterministic, mean-field or convolution weights, got " +
                        std::string(family_name(layer.weights())));
}

/// The law in the top left corner of a larger matrix, or of a smaller one that still holds it.
WeightCovariance resized(const DenseLayer& layer, Index rows, Index columns) {
  return std::visit(
      Overloaded{[](const DeterministicWeights& law) -> WeightCovariance { return law; },
                 [&](const MeanFieldWeights& law) -> WeightCovariance {
                   const Index kept = std::min(rows, layer.outputs());
                   Matrix variance = Matrix::Zero(rows, columns);
                   variance.topLeftCorner(kept, layer.inputs()) = law.variance.topRows(kept);
                   return MeanFieldWeights{std::move(variance), law.law};
                 },
                 [&](SharedWeights law) -> WeightCovariance {
                   for (auto& place : law.places) {
                     if (place.column == layer.inputs()) place.column = columns;  // the bias
                   }
                   law.rows_per_group = finest_row_groups(law, rows);
                   return law;
                 },
                 [&](const OneOf<KroneckerWeights, KroneckerEigenbasisWeights, LowRankWeights, FullWeights,
                                 JointWeights> auto&) -> WeightCovariance { refuse_in_residual(layer); }},
      layer.weights());
}

/// The first `rows` coordinates.
BiasCovariance head(const BiasCovariance& law, Index rows) {
  return std::visit(Overloaded{[](const DeterministicBias& bias) -> BiasCovariance { return bias; },
                               [&](const IndependentBias& bias) -> BiasCovariance {
                                 return IndependentBias{bias.variance.head(rows), bias.law};
                               },
                               [&](const CorrelatedBias& bias) -> BiasCovariance {
                                 return CorrelatedBias{bias.covariance.topLeftCorner(rows, rows)};
                               }},
                    law);
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

DenseLayer with_skip(const DenseLayer& layer, Index skip, bool duplicate) {
  const Index out = layer.outputs();
  const Index columns = layer.inputs() + (duplicate ? 0 : skip);
  Matrix mean = Matrix::Zero(out + skip, columns);
  mean.topLeftCorner(out, layer.inputs()) = layer.weight_mean();
  mean.bottomRightCorner(skip, skip).setIdentity();
  Vector bias = Vector::Zero(out + skip);
  bias.head(out) = layer.bias_mean();
  return {layer.name(), std::move(mean), std::move(bias), resized(layer, out + skip, columns),
          padded(layer.bias(), skip)};
}

DenseLayer with_skip_added(const DenseLayer& layer) {
  const Index out = layer.outputs() / 2;
  return {layer.name(), layer.weight_mean().topRows(out) + layer.weight_mean().bottomRows(out),
          layer.bias_mean().head(out), resized(layer, out, layer.inputs()), head(layer.bias(), out)};
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

BiasCovariance padded(const BiasCovariance& law, Index rows) {
  return std::visit(Overloaded{[](const DeterministicBias& bias) -> BiasCovariance { return bias; },
                               [&](const IndependentBias& bias) -> BiasCovariance {
                                 Vector variance = Vector::Zero(bias.variance.size() + rows);
                                 variance.head(bias.variance.size()) = bias.variance;
                                 return IndependentBias{std::move(variance), bias.law};
                               },
                               [&](const CorrelatedBias& bias) -> BiasCovariance {
                                 const Index size = bias.covariance.rows();
                                 Matrix covariance = Matrix::Zero(size + rows, size + rows);
                                 covariance.topLeftCorner(size, size) = bias.covariance;
                                 return CorrelatedBias{std::move(covariance)};
                               }},
                    law);
}

Index finest_row_groups(const SharedWeights& law, Index rows) {
  std::vector<std::pair<Index, Index>> range(static_cast<std::size_t>(law.variance.size()), {rows, -1});
  for (const auto& place : law.places) {
    auto& [first, last] = range[static_cast<std::size_t>(place.parameter)];
    first = std::min(first, place.row);
    last = std::max(last, place.row);
  }
  const auto holds = [&](Index group) {
    return std::all_of(range.begin(), range.end(), [&](const auto& of) {
      return of.second < 0 || of.first / group == of.second / group;
    });
  };
  Index group = 1;
  for (const auto& [first, last] : range) group = std::max(group, last - first + 1);
  while (rows % group != 0 || !holds(group)) ++group;
  return group;
}

}  // namespace mixcert
