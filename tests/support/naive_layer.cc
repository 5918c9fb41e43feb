// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums over all pairs of entries.
#include "support/naive_layer.h"

#include <variant>

namespace mixcert::testing {

namespace {

/// Cov(W_ij, W_kl), the bias being column `inputs` where the law includes it.
class EntryCovariance {
 public:
  EntryCovariance(const DenseLayer& layer, Index i, Index j, Index k, Index l)
      : layer_(layer), in_(layer.inputs()), i_(i), j_(j), k_(k), l_(l) {}

  double operator()(const DeterministicWeights& /*law*/) const { return 0.0; }
  double operator()(const MeanFieldWeights& law) const {
    return of_weights() && is_same() ? law.variance(i_, j_) : 0.0;
  }
  double operator()(const KroneckerWeights& law) const {
    return of_weights() ? law.row_covariance(i_, k_) * law.column_covariance(j_, l_) : 0.0;
  }
  double operator()(const KroneckerEigenbasisWeights& law) const {
    if (!of_weights()) return 0.0;
    double sum = 0.0;
    for (Index a = 0; a < layer_.outputs(); ++a) {
      for (Index b = 0; b < in_; ++b) {
        sum += law.row_basis(i_, a) * law.column_basis(j_, b) * law.variance(a, b) * law.row_basis(k_, a) *
               law.column_basis(l_, b);
      }
    }
    return sum;
  }
  double operator()(const LowRankWeights& law) const {
    double sum = of_weights() && is_same() ? law.variance(i_, j_) : 0.0;
    for (std::size_t s = 0; s < law.factor.size(); ++s) {
      const auto entry = [&](Index row, Index column) {
        if (column < in_) return law.factor[s](row, column);
        return law.bias_factor.size() > 0 ? law.bias_factor(row, static_cast<Index>(s)) : 0.0;
      };
      sum += entry(i_, j_) * entry(k_, l_);
    }
    return sum;
  }
  double operator()(const FullWeights& law) const {
    return of_weights() ? law.covariance(i_ * in_ + j_, k_ * in_ + l_) : 0.0;
  }
  double operator()(const JointWeights& law) const {
    return law.covariance(i_ * (in_ + 1) + j_, k_ * (in_ + 1) + l_);
  }
  double operator()(const SharedWeights& law) const {
    double sum = 0.0;
    for (const auto& one : law.places) {
      for (const auto& other : law.places) {
        if (one.row == i_ && one.column == j_ && other.row == k_ && other.column == l_ &&
            one.parameter == other.parameter) {
          sum += law.variance(one.parameter);
        }
      }
    }
    return sum;
  }

  double operator()(const DeterministicBias& /*law*/) const { return 0.0; }
  double operator()(const IndependentBias& law) const {
    return of_bias() && i_ == k_ ? law.variance(i_) : 0.0;
  }
  double operator()(const CorrelatedBias& law) const { return of_bias() ? law.covariance(i_, k_) : 0.0; }

 private:
  [[nodiscard]] bool of_weights() const { return j_ < in_ && l_ < in_; }
  [[nodiscard]] bool of_bias() const { return j_ == in_ && l_ == in_; }
  [[nodiscard]] bool is_same() const { return i_ == k_ && j_ == l_; }

  const DenseLayer& layer_;
  Index in_, i_, j_, k_, l_;
};

}  // namespace

double entry_covariance_of(const DenseLayer& layer, Index i, Index j, Index k, Index l) {
  const EntryCovariance covariance(layer, i, j, k, l);
  return std::visit(covariance, layer.weights()) + std::visit(covariance, layer.bias());
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
