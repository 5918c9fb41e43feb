// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sizes of layers as powers of two, and layers multiplied by powers of two (R.9).
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/overloaded.h"
#include "network/ordinary_scale.h"

namespace mixcert {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();
// Squares of numbers between 2^-256 and 2^256 exist, and so do their sums.
constexpr double kSquaresExist = 256.0;
constexpr double kFactorsApart = 64.0;

/// log2 of the largest magnitude.
double log_peak(const Matrix& entries) {
  if (entries.size() == 0) return kNothing;
  const double peak = entries.cwiseAbs().maxCoeff();
  return peak > 0.0 ? std::log2(peak) : kNothing;
}

Matrix times_power(const Matrix& entries, int exponent) {
  return entries.unaryExpr([exponent](double x) { return std::ldexp(x, exponent); });
}

/// log2 of the largest deviation of the weights of a joint law, or of its biases.
double log_joint_deviation(const JointWeights& law, Index inputs, bool of_bias) {
  double largest = 0.0;
  for (Index i = 0; i < law.covariance.rows(); ++i) {
    if ((i % (inputs + 1) == inputs) == of_bias) largest = std::max(largest, law.covariance(i, i));
  }
  return 0.5 * std::log2(largest);
}

double log_shared_deviation(const SharedWeights& law, Index inputs, bool of_bias) {
  double largest = 0.0;
  for (const SharedWeights::Place& place : law.places) {
    if ((place.column == inputs) == of_bias) largest = std::max(largest, law.variance(place.parameter));
  }
  return 0.5 * std::log2(largest);
}

/// log2 of the largest deviation of a weight, up to a small factor.
double log_peak_deviation(const WeightCovariance& weights, Index inputs) {
  return std::visit(
      Overloaded{[](const DeterministicWeights&) { return kNothing; },
                 [](const MeanFieldWeights& law) { return 0.5 * log_peak(law.variance); },
                 [](const KroneckerWeights& law) {
                   return 0.5 * (log_peak(law.row_covariance) + log_peak(law.column_covariance));
                 },
                 [](const KroneckerEigenbasisWeights& law) {
                   return log_peak(law.row_basis) + log_peak(law.column_basis) + 0.5 * log_peak(law.variance);
                 },
                 [](const LowRankWeights& law) {
                   double largest = 0.5 * log_peak(law.variance);
                   for (const Matrix& column : law.factor) largest = std::max(largest, log_peak(column));
                   return largest;
                 },
                 [](const FullWeights& law) { return 0.5 * log_peak(law.covariance.diagonal()); },
                 [&](const JointWeights& law) { return log_joint_deviation(law, inputs, false); },
                 [&](const SharedWeights& law) { return log_shared_deviation(law, inputs, false); }},
      weights);
}

int rounded(double x) { return std::isfinite(x) ? static_cast<int>(std::lround(x)) : 0; }

KroneckerWeights scaled_kronecker(const KroneckerWeights& law, int exponent) {
  const int shift = rounded(0.5 * (log_peak(law.column_covariance) - log_peak(law.row_covariance)));
  return {times_power(law.row_covariance, shift + 2 * exponent), times_power(law.column_covariance, -shift)};
}

/// Bases of size one.
KroneckerEigenbasisWeights scaled_eigenbasis(const KroneckerEigenbasisWeights& law, int exponent) {
  const int rows = rounded(log_peak(law.row_basis));
  const int columns = rounded(log_peak(law.column_basis));
  return {times_power(law.row_basis, -rows), times_power(law.column_basis, -columns),
          times_power(law.variance, 2 * (exponent + rows + columns))};
}

JointWeights scaled_joint(const JointWeights& law, Index inputs, int weight_exponent, int bias_exponent) {
  JointWeights scaled = law;
  const auto exponent = [&](Index i) { return i % (inputs + 1) == inputs ? bias_exponent : weight_exponent; };
  for (Index j = 0; j < law.covariance.cols(); ++j) {
    for (Index i = 0; i < law.covariance.rows(); ++i) {
      scaled.covariance(i, j) = std::ldexp(law.covariance(i, j), exponent(i) + exponent(j));
    }
  }
  return scaled;
}

std::optional<WeightCovariance> scaled_shared(const SharedWeights& law, Index inputs, int weight_exponent,
                                              int bias_exponent) {
  std::vector<bool> in_weights(static_cast<std::size_t>(law.variance.size()), false), in_bias = in_weights;
  for (const SharedWeights::Place& place : law.places) {
    (place.column == inputs ? in_bias : in_weights)[static_cast<std::size_t>(place.parameter)] = true;
  }
  SharedWeights scaled = law;
  for (Index s = 0; s < law.variance.size(); ++s) {
    const bool bias = in_bias[static_cast<std::size_t>(s)];
    if (bias && in_weights[static_cast<std::size_t>(s)] && weight_exponent != bias_exponent) return {};
    scaled.variance(s) = std::ldexp(law.variance(s), 2 * (bias ? bias_exponent : weight_exponent));
  }
  return scaled;
}

std::optional<WeightCovariance> scaled_weights(const DenseLayer& layer, int exponent, int bias_exponent) {
  using Scaled = std::optional<WeightCovariance>;
  return std::visit(
      Overloaded{
          [](const DeterministicWeights& law) -> Scaled { return law; },
          [&](const MeanFieldWeights& law) -> Scaled {
            return MeanFieldWeights{times_power(law.variance, 2 * exponent), law.law};
          },
          [&](const KroneckerWeights& law) -> Scaled { return scaled_kronecker(law, exponent); },
          [&](const KroneckerEigenbasisWeights& law) -> Scaled { return scaled_eigenbasis(law, exponent); },
          [&](const LowRankWeights& law) -> Scaled {
            LowRankWeights scaled = law;
            scaled.variance = times_power(law.variance, 2 * exponent);
            for (Matrix& column : scaled.factor) column = times_power(column, exponent);
            scaled.bias_factor = times_power(law.bias_factor, bias_exponent);
            return scaled;
          },
          [&](const FullWeights& law) -> Scaled {
            return FullWeights{times_power(law.covariance, 2 * exponent)};
          },
          [&](const JointWeights& law) -> Scaled {
            return scaled_joint(law, layer.inputs(), exponent, bias_exponent);
          },
          [&](const SharedWeights& law) -> Scaled {
            return scaled_shared(law, layer.inputs(), exponent, bias_exponent);
          }},
      layer.weights());
}

BiasCovariance scaled_bias(const BiasCovariance& bias, int exponent) {
  return std::visit(Overloaded{[](const DeterministicBias& law) -> BiasCovariance { return law; },
                               [&](const IndependentBias& law) -> BiasCovariance {
                                 return IndependentBias{times_power(law.variance, 2 * exponent), law.law};
                               },
                               [&](const CorrelatedBias& law) -> BiasCovariance {
                                 return CorrelatedBias{times_power(law.covariance, 2 * exponent)};
                               }},
                    bias);
}

}  // namespace

double log_row_size(const DenseLayer& layer) {
  const double peak =
      std::max(log_peak(layer.weight_mean()), log_peak_deviation(layer.weights(), layer.inputs()));
  // The largest entry stands for all where squares do not exist.
  if (!(std::abs(peak) < kSquaresExist)) return peak + 0.5 * std::log2(static_cast<double>(layer.inputs()));
  const double squares = layer.row_norms().squaredNorm() + layer.row_variances().sum();
  return 0.5 * std::log2(squares / static_cast<double>(layer.outputs()));
}

double log_bias_size(const DenseLayer& layer) {
  const double noise =
      std::visit(Overloaded{[](const DeterministicBias&) { return kNothing; },
                            [](const IndependentBias& law) { return 0.5 * log_peak(law.variance); },
                            [](const CorrelatedBias& law) { return 0.5 * log_peak(law.covariance); }},
                 layer.bias());
  const double together = std::visit(
      Overloaded{[&](const JointWeights& law) { return log_joint_deviation(law, layer.inputs(), true); },
                 [&](const SharedWeights& law) { return log_shared_deviation(law, layer.inputs(), true); },
                 [](const LowRankWeights& law) { return log_peak(law.bias_factor); },
                 [](const OneOf<DeterministicWeights, MeanFieldWeights, KroneckerWeights,
                                KroneckerEigenbasisWeights, FullWeights> auto&) { return kNothing; }},
      layer.weights());
  return std::max({log_peak(layer.bias_mean()), noise, together});
}

bool has_extreme_factors(const DenseLayer& layer) {
  const auto apart = [](double size) { return std::isfinite(size) && std::abs(size) > kFactorsApart; };
  return std::visit(
      Overloaded{[&](const KroneckerWeights& law) {
                   return apart(log_peak(law.row_covariance) - log_peak(law.column_covariance));
                 },
                 [&](const KroneckerEigenbasisWeights& law) {
                   return apart(log_peak(law.row_basis)) || apart(log_peak(law.column_basis));
                 },
                 [](const OneOf<DeterministicWeights, MeanFieldWeights, LowRankWeights, FullWeights,
                                JointWeights, SharedWeights> auto&) { return false; }},
      layer.weights());
}

std::optional<DenseLayer> scaled_by_powers(const DenseLayer& layer, int weight_exponent, int bias_exponent) {
  std::optional<WeightCovariance> weights = scaled_weights(layer, weight_exponent, bias_exponent);
  if (!weights) return {};
  return DenseLayer(layer.name(), times_power(layer.weight_mean(), weight_exponent),
                    times_power(layer.bias_mean(), bias_exponent), *std::move(weights),
                    scaled_bias(layer.bias(), bias_exponent));
}

}  // namespace mixcert
