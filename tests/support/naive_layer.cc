// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums over all pairs of entries.
#include "support/naive_layer.h"

#include <variant>

namespace mixcert::testing {

namespace {

/// entry_covariance_of, but for JointWeights and the laws of a bias alone.
double weight_entry_covariance(const DenseLayer& layer, Index i, Index j, Index k, Index l) {
  const Index in = layer.inputs();
  if (const auto* law = std::get_if<MeanFieldWeights>(&layer.weights())) {
    return i == k && j == l ? law->variance(i, j) : 0.0;
  }
  if (const auto* law = std::get_if<KroneckerWeights>(&layer.weights())) {
    return law->row_covariance(i, k) * law->column_covariance(j, l);
  }
  if (const auto* law = std::get_if<FullWeights>(&layer.weights())) {
    return law->covariance(i * in + j, k * in + l);
  }
  double sum = 0.0;
  if (const auto* law = std::get_if<KroneckerEigenbasisWeights>(&layer.weights())) {
    for (Index a = 0; a < layer.outputs(); ++a) {
      for (Index b = 0; b < in; ++b) {
        sum += law->row_basis(i, a) * law->column_basis(j, b) * law->variance(a, b) * law->row_basis(k, a) *
               law->column_basis(l, b);
      }
    }
  }
  if (const auto* law = std::get_if<SharedWeights>(&layer.weights())) {
    // Also at j or l equal to the number of inputs.
    for (const auto& one : law->places) {
      for (const auto& other : law->places) {
        if (one.row == i && one.column == j && other.row == k && other.column == l &&
            one.parameter == other.parameter) {
          sum += law->variance(one.parameter);
        }
      }
    }
  }
  if (const auto* law = std::get_if<LowRankWeights>(&layer.weights())) {
    if (i == k && j == l) sum = law->variance(i, j);
    for (const Matrix& column : law->factor) sum += column(i, j) * column(k, l);
  }
  return sum;
}

}  // namespace

double entry_covariance_of(const DenseLayer& layer, Index i, Index j, Index k, Index l) {
  const Index in = layer.inputs();
  if (const auto* law = std::get_if<JointWeights>(&layer.weights())) {
    return law->covariance(i * (in + 1) + j, k * (in + 1) + l);
  }
  if (j < in && l < in) return weight_entry_covariance(layer, i, j, k, l);
  const bool shared = std::holds_alternative<SharedWeights>(layer.weights());
  double sum = shared ? weight_entry_covariance(layer, i, j, k, l) : 0.0;
  if (j != l) return sum;  // other weights are independent of the bias
  if (const auto* law = std::get_if<IndependentBias>(&layer.bias())) sum += i == k ? law->variance(i) : 0.0;
  if (const auto* law = std::get_if<CorrelatedBias>(&layer.bias())) sum += law->covariance(i, k);
  return sum;
}

Matrix naive_entry_covariance(const DenseLayer& layer) {
  const Index stride = layer.inputs() + 1;
  const Index size = layer.outputs() * stride;
  return Matrix::NullaryExpr(size, size, [&](Index row, Index column) {
    return entry_covariance_of(layer, row / stride, row % stride, column / stride, column % stride);
  });
}

Gaussian naive_push(const DenseLayer& layer, const Vector& point, Index input_count) {
  const Index in = layer.inputs();
  const Index d = input_count;
  const Matrix entries = naive_entry_covariance(layer);
  const auto activation = [&](Index j, Index input) { return j == in ? 1.0 : point(j * d + input); };
  Vector mean(layer.outputs() * d);
  Matrix covariance = Matrix::Zero(mean.size(), mean.size());
  for (Index row = 0; row < mean.size(); ++row) {
    mean(row) = layer.bias_mean()(row / d);
    for (Index j = 0; j < in; ++j) mean(row) += layer.weight_mean()(row / d, j) * activation(j, row % d);
    for (Index column = 0; column < mean.size(); ++column) {
      for (Index j = 0; j <= in; ++j) {
        for (Index l = 0; l <= in; ++l) {
          covariance(row, column) += activation(j, row % d) * activation(l, column % d) *
                                     entries(row / d * (in + 1) + j, column / d * (in + 1) + l);
        }
      }
    }
  }
  return {mean, Covariance::dense(covariance)};
}

}  // namespace mixcert::testing
