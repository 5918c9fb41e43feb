// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Structured covariances: equal blocks on the diagonal plus a low-rank part.
#include <cmath>
#include <string>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

Covariance Covariance::zero(Index dimension) { return diagonal(Vector::Zero(dimension)); }

Covariance Covariance::diagonal(ConstVectorRef variances) { return block_diagonal(variances); }

Covariance Covariance::dense(Matrix matrix) {
  require(matrix.rows() == matrix.cols(), "Covariance::dense: the matrix must be square");
  return block_diagonal(std::move(matrix));
}

Covariance Covariance::block_diagonal(Matrix stacked) {
  require(stacked.rows() == 0 || (stacked.cols() > 0 && stacked.rows() % stacked.cols() == 0),
          "Covariance::block_diagonal: rows must be a multiple of columns");
  Covariance result;
  result.blocks_ = std::move(stacked);
  result.factor_.resize(result.blocks_.rows(), 0);
  return result;
}

Covariance Covariance::plus_low_rank(ConstMatrixRef factor) const {
  require(factor.rows() == dimension(), "Covariance::plus_low_rank: the factor has " +
                                            std::to_string(factor.rows()) + " rows, expected " +
                                            std::to_string(dimension()));
  Covariance result = *this;
  if (block_count() == 1) {
    result.blocks_.noalias() += factor * factor.transpose();
    return result;
  }
  result.factor_.resize(dimension(), rank() + factor.cols());
  result.factor_ << factor_, factor;
  return result;
}

Vector Covariance::variances() const {
  const Index b = block_size();
  Vector result(dimension());
  for (Index i = 0; i < block_count(); ++i) result.segment(i * b, b) = block(i).diagonal();
  if (rank() > 0) result += factor_.rowwise().squaredNorm();
  return result;
}

Matrix Covariance::times(ConstMatrixRef right) const {
  Matrix result(dimension(), right.cols());
  if (block_size() == 1) {
    result = blocks_.col(0).asDiagonal() * right;
  } else {
    const Index b = block_size();
    for (Index i = 0; i < block_count(); ++i) {
      result.middleRows(i * b, b).noalias() = block(i) * right.middleRows(i * b, b);
    }
  }
  if (rank() > 0) {
    const Matrix projected = factor_.transpose() * right;
    result.noalias() += factor_ * projected;
  }
  return result;
}

Covariance Covariance::scaled(ConstVectorRef scale) const {
  require(scale.size() == dimension(), "Covariance::scaled: wrong size");
  Covariance result = *this;
  const Index b = block_size();
  for (Index i = 0; i < block_count(); ++i) {
    const auto part = scale.segment(i * b, b);
    result.blocks_.middleRows(i * b, b) = part.asDiagonal() * block(i) * part.asDiagonal();
  }
  result.factor_ = scale.asDiagonal() * factor_;
  return result;
}

Matrix Covariance::to_dense() const {
  Matrix result = factor_ * factor_.transpose();
  const Index b = block_size();
  for (Index i = 0; i < block_count(); ++i) result.block(i * b, i * b, b, b) += block(i);
  return result;
}

Matrix Covariance::submatrix(const std::vector<Index>& indices) const {
  const auto count = static_cast<Index>(indices.size());
  const Index b = block_size();
  Matrix result(count, count);
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < count; ++j) {
      const Index row = indices[static_cast<std::size_t>(i)];
      const Index column = indices[static_cast<std::size_t>(j)];
      const double in_block = row / b == column / b ? blocks_(row, column % b) : 0.0;
      // Eigen forms a pointer into the factor for a row, which an empty one does not have.
      const double low_rank = rank() > 0 ? factor_.row(row).dot(factor_.row(column)) : 0.0;
      result(i, j) = in_block + low_rank;
    }
  }
  return result;
}

double Covariance::memory_in_bytes() const {
  return static_cast<double>(sizeof(double)) * static_cast<double>(blocks_.size() + factor_.size());
}

Covariance weighted_sum(ConstVectorRef weights, const std::vector<const Covariance*>& covariances) {
  require(!covariances.empty() && weights.size() == static_cast<Index>(covariances.size()),
          "weighted_sum: one weight per covariance is needed");
  const Covariance& first = *covariances.front();
  Matrix blocks = Matrix::Zero(first.dimension(), first.block_size());
  Index rank = 0;
  for (std::size_t i = 0; i < covariances.size(); ++i) {
    const Covariance& next = *covariances[i];
    require(next.dimension() == first.dimension() && next.block_size() == first.block_size(),
            "weighted_sum: covariances differ in structure");
    blocks += weights(static_cast<Index>(i)) * next.stacked_blocks();
    rank += next.rank();
  }
  Covariance result = Covariance::block_diagonal(std::move(blocks));
  if (rank == 0) return result;
  Matrix factor(first.dimension(), rank);
  Index column = 0;
  for (std::size_t i = 0; i < covariances.size(); ++i) {
    const Covariance& next = *covariances[i];
    factor.middleCols(column, next.rank()) = std::sqrt(weights(static_cast<Index>(i))) * next.factor();
    column += next.rank();
  }
  return result.plus_low_rank(factor);
}

}  // namespace mixcert
