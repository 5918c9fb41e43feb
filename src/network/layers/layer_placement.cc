// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Laws of layers that became parts of larger ones.
#include "network/layers/layer_placement.h"

#include <algorithm>
#include <utility>

#include "core/overloaded.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

/// The smallest equal groups of rows of a matrix of `rows` rows that keep every parameter inside one of them.
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

[[noreturn]] void refuse_beside_others(const DenseLayer& layer) {
  throw InvalidArgument("layer '" + layer.name() +
                        "': expected deterministic, mean-field or convolution weights, got " +
                        std::string(family_name(layer.weights())) +
                        " ones, which have no canonical form where other values pass the layer");
}

WeightCovariance placed_weights(const DenseLayer& layer, const Coordinates& columns, Index total,
                                Index rows) {
  return std::visit(
      Overloaded{[](const DeterministicWeights& law) -> WeightCovariance { return law; },
                 [&](const MeanFieldWeights& law) -> WeightCovariance {
                   Matrix variance = Matrix::Zero(rows, total);
                   for (Index j = 0; j < layer.inputs(); ++j)
                     variance.col(columns[static_cast<std::size_t>(j)]).head(layer.outputs()) =
                         law.variance.col(j);
                   return MeanFieldWeights{std::move(variance), law.law};
                 },
                 [&](SharedWeights law) -> WeightCovariance {
                   for (auto& place : law.places) {
                     const bool is_bias = place.column == layer.inputs();
                     place.column = is_bias ? total : columns[static_cast<std::size_t>(place.column)];
                   }
                   law.rows_per_group = finest_row_groups(law, rows);
                   return law;
                 },
                 [&](const OneOf<KroneckerWeights, KroneckerEigenbasisWeights, LowRankWeights, FullWeights,
                                 JointWeights> auto&) -> WeightCovariance { refuse_beside_others(layer); }},
      layer.weights());
}

/// Which outputs are random, given the inputs?
std::vector<bool> random_rows(const DenseLayer& layer) {
  std::vector<bool> is_random(static_cast<std::size_t>(layer.outputs()));
  for (Index i = 0; i < layer.outputs(); ++i)
    is_random[static_cast<std::size_t>(i)] =
        layer.row_variances()(i) > 0.0 || layer.bias_variances()(i) > 0.0;
  if (const auto* shared = std::get_if<SharedWeights>(&layer.weights())) {
    for (const auto& place : shared->places) is_random[static_cast<std::size_t>(place.row)] = true;
  }
  return is_random;
}

/// For each sum the random row in it, -1 where it has none; nothing where a sum has two or a row is in two.
std::optional<Coordinates> random_row_of_each(const DenseLayer& layer, const std::vector<Coordinates>& rows) {
  const std::vector<bool> is_random = random_rows(layer);
  std::vector<bool> is_taken(is_random.size(), false);
  Coordinates sources(rows.size(), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const Index row : rows[i]) {
      const auto at = static_cast<std::size_t>(row);
      if (!is_random[at]) continue;
      if (is_taken[at] || sources[i] >= 0) return {};
      is_taken[at] = true;
      sources[i] = row;
    }
  }
  return sources;
}

WeightCovariance moved_rows(const WeightCovariance& weights, const Coordinates& sources, Index old_rows) {
  const auto rows = static_cast<Index>(sources.size());
  return std::visit(
      Overloaded{
          [&](const MeanFieldWeights& law) -> WeightCovariance {
            Matrix variance = Matrix::Zero(rows, law.variance.cols());
            for (Index i = 0; i < rows; ++i) {
              const Index from = sources[static_cast<std::size_t>(i)];
              if (from >= 0) variance.row(i) = law.variance.row(from);
            }
            return MeanFieldWeights{std::move(variance), law.law};
          },
          [&](SharedWeights law) -> WeightCovariance {
            Coordinates target(static_cast<std::size_t>(old_rows), -1);
            for (Index i = 0; i < rows; ++i) {
              const Index from = sources[static_cast<std::size_t>(i)];
              if (from >= 0) target[static_cast<std::size_t>(from)] = i;
            }
            for (auto& place : law.places) place.row = target[static_cast<std::size_t>(place.row)];
            std::erase_if(law.places, [](const auto& place) { return place.row < 0; });
            std::stable_sort(law.places.begin(), law.places.end(),
                             [](const auto& a, const auto& b) { return a.row < b.row; });
            law.rows_per_group = finest_row_groups(law, rows);
            return law;
          },
          // has_room: deterministic ones.
          [](const OneOf<DeterministicWeights, KroneckerWeights, KroneckerEigenbasisWeights, LowRankWeights,
                         FullWeights, JointWeights> auto& law) -> WeightCovariance { return law; }},
      weights);
}

BiasCovariance moved_entries(const BiasCovariance& bias, const Coordinates& sources) {
  const auto rows = static_cast<Index>(sources.size());
  const auto from = [&](Index i) { return sources[static_cast<std::size_t>(i)]; };
  return std::visit(Overloaded{[](const DeterministicBias& law) -> BiasCovariance { return law; },
                               [&](const IndependentBias& law) -> BiasCovariance {
                                 Vector variance = Vector::Zero(rows);
                                 for (Index i = 0; i < rows; ++i) {
                                   if (from(i) >= 0) variance(i) = law.variance(from(i));
                                 }
                                 return IndependentBias{std::move(variance), law.law};
                               },
                               [&](const CorrelatedBias& law) -> BiasCovariance {
                                 Matrix covariance = Matrix::Zero(rows, rows);
                                 for (Index i = 0; i < rows; ++i) {
                                   for (Index j = 0; j < rows; ++j) {
                                     if (from(i) >= 0 && from(j) >= 0)
                                       covariance(i, j) = law.covariance(from(i), from(j));
                                   }
                                 }
                                 return CorrelatedBias{std::move(covariance)};
                               }},
                    bias);
}

}  // namespace

bool has_room(const DenseLayer& layer) {
  return std::visit(Overloaded{[](const OneOf<DeterministicWeights, MeanFieldWeights, SharedWeights> auto&) {
                                 return true;
                               },
                               [](const OneOf<KroneckerWeights, KroneckerEigenbasisWeights, LowRankWeights,
                                              FullWeights, JointWeights> auto&) { return false; }},
                    layer.weights());
}

DenseLayer placed(const DenseLayer& layer, const Coordinates& columns, Index total,
                  const Coordinates& passed) {
  const Index out = layer.outputs(), rows = out + static_cast<Index>(passed.size());
  WeightCovariance weights = placed_weights(layer, columns, total, rows);
  Matrix mean = Matrix::Zero(rows, total);
  for (Index j = 0; j < layer.inputs(); ++j)
    mean.col(columns[static_cast<std::size_t>(j)]).head(out) += layer.weight_mean().col(j);
  for (Index i = out; i < rows; ++i) mean(i, passed[static_cast<std::size_t>(i - out)]) = 1.0;
  Vector bias = Vector::Zero(rows);
  bias.head(out) = layer.bias_mean();
  return {layer.name(), std::move(mean), std::move(bias), std::move(weights),
          scattered(layer.bias(), counted_from(0, out), rows)};
}

std::optional<DenseLayer> with_combined_rows(const DenseLayer& layer, const std::vector<Coordinates>& rows) {
  if (!has_room(layer)) return {};
  const std::optional<Coordinates> sources = random_row_of_each(layer, rows);
  if (!sources) return {};
  const auto count = static_cast<Index>(rows.size());
  Matrix mean = Matrix::Zero(count, layer.inputs());
  Vector bias = Vector::Zero(count);
  for (Index i = 0; i < count; ++i) {
    for (const Index row : rows[static_cast<std::size_t>(i)]) {
      mean.row(i) += layer.weight_mean().row(row);
      bias(i) += layer.bias_mean()(row);
    }
  }
  return DenseLayer(layer.name(), std::move(mean), std::move(bias),
                    moved_rows(layer.weights(), *sources, layer.outputs()),
                    moved_entries(layer.bias(), *sources));
}

DenseLayer combining_layer(const std::string& name, const std::vector<Coordinates>& rows, Index total) {
  const auto count = static_cast<Index>(rows.size());
  Matrix mean = Matrix::Zero(count, total);
  for (Index i = 0; i < count; ++i) {
    for (const Index c : rows[static_cast<std::size_t>(i)]) mean(i, c) += 1.0;
  }
  return {name, std::move(mean), Vector::Zero(count), DeterministicWeights{}, DeterministicBias{}};
}

BiasCovariance scattered(const BiasCovariance& law, const Coordinates& at, Index total) {
  return std::visit(Overloaded{[](const DeterministicBias& bias) -> BiasCovariance { return bias; },
                               [&](const IndependentBias& bias) -> BiasCovariance {
                                 Vector variance = Vector::Zero(total);
                                 variance(at) = bias.variance;
                                 return IndependentBias{std::move(variance), bias.law};
                               },
                               [&](const CorrelatedBias& bias) -> BiasCovariance {
                                 Matrix covariance = Matrix::Zero(total, total);
                                 covariance(at, at) = bias.covariance;
                                 return CorrelatedBias{std::move(covariance)};
                               }},
                    law);
}

}  // namespace mixcert
