// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Gaussian mixtures with structured covariances: moments, marginals, conditionals and log density. Sampling
// lives in mixcert/statistics/simulate.h.
#pragma once

#include <memory>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

// Symmetric positive semidefinite matrices with the structure that layers of a
// stochastic network produce:
//
//     C = blockdiag(B_1, ..., B_p) + F F'
//
// with p equal blocks of size b. b = 1 is a diagonal (one input, independent
// weights), b = number of inputs is one block per neuron (several inputs jointly),
// b = dimension is a dense matrix (correlated weights). F holds the few directions
// that compression or low-rank weights add. Nothing here is ever expanded unless
// to_dense() is called.

class Covariance {
 public:
  Covariance() = default;
  static Covariance zero(Index dimension);
  static Covariance diagonal(ConstVectorRef variances);
  static Covariance dense(Matrix matrix);
  /// `stacked` is (p b) x b: rows [i b, (i+1) b) are block i.
  static Covariance block_diagonal(Matrix stacked);

  /// This plus factor * factor'. Folded into the block when there is only one.
  [[nodiscard]] Covariance plus_low_rank(ConstMatrixRef factor) const;

  [[nodiscard]] Index dimension() const { return blocks_.rows(); }
  [[nodiscard]] Index block_size() const { return blocks_.cols(); }
  [[nodiscard]] Index block_count() const { return dimension() == 0 ? 0 : dimension() / block_size(); }
  [[nodiscard]] Index rank() const { return factor_.cols(); }
  [[nodiscard]] bool is_diagonal() const { return block_size() == 1 && rank() == 0; }
  /// Blocks stacked as (p b) x b.
  [[nodiscard]] const Matrix& stacked_blocks() const { return blocks_; }
  [[nodiscard]] Eigen::Block<const Matrix> block(Index i) const {
    return blocks_.middleRows(i * block_size(), block_size());
  }
  /// dimension x rank.
  [[nodiscard]] const Matrix& factor() const { return factor_; }

  /// Diagonal of C.
  [[nodiscard]] Vector variances() const;
  [[nodiscard]] double trace() const { return variances().sum(); }
  /// C * right.
  [[nodiscard]] Matrix times(ConstMatrixRef right) const;
  /// diag(scale) C diag(scale).
  [[nodiscard]] Covariance scaled(ConstVectorRef scale) const;
  [[nodiscard]] Matrix to_dense() const;
  /// The rows and columns `indices` of C, dense.
  [[nodiscard]] Matrix submatrix(const std::vector<Index>& indices) const;
  /// Bytes held.
  [[nodiscard]] double memory_in_bytes() const;

 private:
  Matrix blocks_;
  Matrix factor_;
};

/// sum_i weights_i covariances_i (weights nonnegative), keeping the structure: blocks
/// average, factors are stacked. All must have one dimension and block size.
Covariance weighted_sum(ConstVectorRef weights, const std::vector<const Covariance*>& covariances);

struct Gaussian {
  Vector mean;
  Covariance covariance;

  [[nodiscard]] Index dimension() const { return mean.size(); }
};

class GaussianMixture {
 public:
  GaussianMixture() = default;
  /// Weights must be nonnegative and sum to one within 1e-9; components must agree
  /// in dimension. Throws InvalidArgument otherwise.
  GaussianMixture(Vector weights, std::vector<Gaussian> components);
  explicit GaussianMixture(Gaussian gaussian);

  [[nodiscard]] Index size() const { return weights_.size(); }
  [[nodiscard]] Index dimension() const { return components_ ? components_->front().dimension() : 0; }
  [[nodiscard]] const Vector& weights() const { return weights_; }
  [[nodiscard]] const Gaussian& component(Index i) const {
    return (*components_)[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] const std::vector<Gaussian>& components() const;

  /// Is this a copy of the other mixture, or the other way round? Equal ones made apart are not.
  [[nodiscard]] bool is_copy_of(const GaussianMixture& other) const {
    return components_ == other.components_ && weights_ == other.weights_;
  }

  [[nodiscard]] Vector mean() const;
  [[nodiscard]] Matrix covariance() const;
  [[nodiscard]] Vector standard_deviation() const;
  /// E|z|^2.
  [[nodiscard]] double second_moment() const;
  /// Law of the chosen coordinates.
  [[nodiscard]] GaussianMixture marginal(const std::vector<Index>& indices) const;
  /// Law of the other coordinates, in increasing order, given that `indices` take `values`.
  /// Throws InvalidArgument where the given coordinates have a singular covariance.
  [[nodiscard]] GaussianMixture conditional(const std::vector<Index>& indices, ConstVectorRef values) const;
  /// Log density at `point`. A mixture with a singular component has none: InvalidArgument.
  [[nodiscard]] double log_density(ConstVectorRef point) const;
  /// The same law with coordinate `order[i]` moved to place i.
  [[nodiscard]] GaussianMixture permuted(const std::vector<Index>& order) const;

 private:
  Vector weights_;
  /// Never changed, so copies share them: covariances are large, and traces hold most mixtures more than
  /// once.
  std::shared_ptr<const std::vector<Gaussian>> components_;
};

}  // namespace mixcert
