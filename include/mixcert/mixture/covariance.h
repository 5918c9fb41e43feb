// Licensed under the Apache License, Version 2.0; see LICENSE.
//
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
#pragma once

#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

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

}  // namespace mixcert
