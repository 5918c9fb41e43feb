// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Eigen's solvers (Householder tridiagonalisation and implicit QR, singular values), and leading eigenpairs.
#include "mixture/symmetric_eigen.h"

#include <Spectra/SymEigsSolver.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixcert/core/rounding.h"

namespace mixcert {

SymmetricEigen symmetric_eigen(ConstMatrixRef matrix) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Matrix common_directions(ConstMatrixRef a, ConstMatrixRef b) {
  // b = L L', and L^{-1} a L^{-T} = U D U' gives V = L^{-T} U.
  const Eigen::LLT<Matrix> root(b);
  if (root.info() != Eigen::Success) return Matrix::Constant(b.rows(), b.cols(), NAN);
  const Matrix half = root.matrixL().solve(a);
  const Matrix whitened = root.matrixL().solve(half.transpose());
  return root.matrixU().solve(symmetric_eigen(whitened).vectors);
}

bool is_semidefinite(ConstMatrixRef matrix, double tolerance) {
  if (matrix.isZero(0.0)) return true;
  const double scale = matrix.diagonal().maxCoeff();
  if (!(scale > 0.0)) return false;
  Matrix shifted = matrix / scale;
  shifted.diagonal().array() += tolerance;
  // Eigen reports success for NaN.
  return shifted.allFinite() && shifted.llt().info() == Eigen::Success;
}

// Eigen's solvers: bidiagonalisation, then divide and conquer; and Jacobi rotations.

SingularValues singular_values(const Matrix& matrix) {
  const Eigen::BDCSVD<Matrix> svd(matrix, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

double trace_norm(const Matrix& matrix) { return matrix.jacobiSvd().singularValues().sum(); }

// Leading eigenpairs. The only translation unit that sees Spectra (16 s to compile).
// Spectra throws for one-dimensional and zero matrices, so small ones go to Eigen's dense
// solver, which is also the answer when Lanczos does not converge.

namespace {

// Below this size a dense solve costs no more than Lanczos.
constexpr Index kDenseSize = 40;
// Signatures lose the square of this, relative to the variance; 1e-13 takes twice as long.
constexpr double kTolerance = 1e-8;
constexpr Index kMaxRestarts = 300;

/// The product y = C x in the form Spectra asks for.
class CovarianceProduct {
 public:
  using Scalar = double;
  explicit CovarianceProduct(const Covariance& covariance) : covariance_(covariance) {}
  [[nodiscard]] Index rows() const { return covariance_.dimension(); }
  [[nodiscard]] Index cols() const { return covariance_.dimension(); }
  void perform_op(const double* x, double* y) const {
    const Eigen::Map<const Vector> in(x, rows());
    Eigen::Map<Vector> out(y, rows());
    const Matrix& blocks = covariance_.stacked_blocks();
    if (covariance_.block_size() == 1) {
      out = blocks.col(0).cwiseProduct(in);
    } else {
      const Index b = covariance_.block_size();
      for (Index i = 0; i < covariance_.block_count(); ++i) {
        out.segment(i * b, b).noalias() = covariance_.block(i) * in.segment(i * b, b);
      }
    }
    if (covariance_.rank() > 0) {
      const Vector projected = covariance_.factor().transpose() * in;
      out.noalias() += covariance_.factor() * projected;
    }
  }

 private:
  const Covariance& covariance_;
};

Eigenpairs dense_pairs(const Matrix& matrix, Index count) {
  const SymmetricEigen eigen = symmetric_eigen(matrix);
  return {positive_part(eigen.values.reverse().head(count)),
          eigen.vectors.rowwise().reverse().leftCols(count)};
}

/// Block-diagonal matrices: the largest over all blocks.
Eigenpairs block_pairs(const Covariance& covariance, Index count) {
  const Index b = covariance.block_size();
  struct Candidate {
    double value;
    Index block, column;
  };
  std::vector<Candidate> candidates;
  std::vector<Matrix> vectors;
  Eigenpairs pairs;
  for (Index i = 0; i < covariance.block_count(); ++i) {
    // Neurons of a prior are often alike.
    if (i == 0 || covariance.block(i) != covariance.block(i - 1)) pairs = dense_pairs(covariance.block(i), b);
    vectors.push_back(pairs.vectors);
    for (Index j = 0; j < b; ++j) candidates.push_back({pairs.values(j), i, j});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& x, const Candidate& y) { return x.value > y.value; });
  Eigenpairs result{Vector(count), Matrix::Zero(covariance.dimension(), count)};
  for (Index k = 0; k < count; ++k) {
    const Candidate& chosen = candidates[static_cast<std::size_t>(k)];
    result.values(k) = chosen.value;
    result.vectors.col(k).segment(chosen.block * b, b) =
        vectors[static_cast<std::size_t>(chosen.block)].col(chosen.column);
  }
  return result;
}

Eigenpairs diagonal_pairs(const Vector& variances, Index count) {
  std::vector<Index> order(static_cast<std::size_t>(variances.size()));
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](Index a, Index b) {
    return variances(a) > variances(b) || (variances(a) == variances(b) && a < b);
  });
  Eigenpairs result{Vector(count), Matrix::Zero(variances.size(), count)};
  for (Index k = 0; k < count; ++k) {
    result.values(k) = variances(order[static_cast<std::size_t>(k)]);
    result.vectors(order[static_cast<std::size_t>(k)], k) = 1.0;
  }
  return result;
}

/// Lanczos breaks down on matrices of very low rank and can then return nonsense with a
/// successful status (seen on a rank-one Gram matrix), so residuals are looked at.
bool is_accurate(const Covariance& covariance, const Eigenpairs& pairs) {
  const Matrix residual = covariance.times(pairs.vectors) - pairs.vectors * pairs.values.asDiagonal();
  return pairs.vectors.allFinite() && residual.norm() <= 1e-6 * covariance.trace();
}

/// Nothing where Lanczos does not converge; on rank-one matrices Spectra may throw instead.
std::optional<Eigenpairs> lanczos_pairs(const Covariance& covariance, Index count) {
  const Index n = covariance.dimension();
  CovarianceProduct product(covariance);
  Spectra::SymEigsSolver<CovarianceProduct> solver(product, count,
                                                   std::min(n, std::max<Index>(2 * count + 6, 12)));
  try {
    solver.init();
    solver.compute(Spectra::SortRule::LargestAlge, kMaxRestarts, kTolerance);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
  if (solver.info() != Spectra::CompInfo::Successful) return std::nullopt;
  Eigenpairs pairs{positive_part(solver.eigenvalues()), solver.eigenvectors()};
  if (!is_accurate(covariance, pairs)) return std::nullopt;
  return pairs;
}

}  // namespace

bool has_cheap_eigenpairs(const Covariance& covariance) {
  return covariance.dimension() <= kDenseSize || covariance.is_diagonal() ||
         (covariance.rank() == 0 && covariance.block_count() > 1);
}

Eigenpairs leading_eigenpairs(const Covariance& covariance, Index count) {
  const Index n = covariance.dimension();
  count = std::min(count, n);
  if (count == 0) return {Vector(0), Matrix(n, 0)};
  if (covariance.is_diagonal()) return diagonal_pairs(covariance.variances(), count);
  if (covariance.rank() == 0 && covariance.block_count() > 1) return block_pairs(covariance, count);
  if (!has_cheap_eigenpairs(covariance) && 4 * count < n && covariance.trace() > 0.0) {
    if (auto pairs = lanczos_pairs(covariance, count)) return *std::move(pairs);
  }
  return dense_pairs(covariance.to_dense(), count);
}

}  // namespace mixcert
