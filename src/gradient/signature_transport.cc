// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// With A = S S and C = C0 + F F' in metric coordinates the cost is |dm|^2 + tr A + tr C - 2 f, f = tr
// sqrt(X), X = S C S: blocks N = S C0 S plus Z Z', Z = S F. From N_bar = (X^{-1/2})_blocks / 2 and Z_bar =
// X^{-1/2} Z the chain rule gives the rest (Z.24). Where A is singular, derivatives are those along
// covariances of the same rank.
#include "gradient/signature_transport.h"

#include <Eigen/SVD>
#include <cmath>

#include "gradient/trace_sqrt_gradient.h"
#include "mixcert/core/error.h"
#include "mixcert/mixture/symmetric_eigen.h"

namespace mixcert {
namespace {

// Eigenvalues below this fraction of a block's largest are rounding errors of zeros.
constexpr double kZeroEigenvalue = 1e-13;
// Singular values of S_A S_C below this fraction of the largest likewise.
constexpr double kZeroFidelity = 1e-10;

struct Root {
  Matrix root;       ///< S
  Matrix inverse;    ///< pseudo-inverse of S
  Matrix null_part;  ///< projection to the null space
};

Root root_of(const Matrix& matrix) {
  const SymmetricEigen eigen = symmetric_eigen(matrix);
  const double floor = kZeroEigenvalue * eigen.values.maxCoeff();
  const auto kept = (eigen.values.array() > floor).eval();
  const Vector roots = kept.select(eigen.values.cwiseMax(0.0).cwiseSqrt(), 0.0);
  const Vector inverses = kept.select(roots.cwiseInverse(), 0.0);
  const Vector dropped = kept.select(Vector::Zero(roots.size()), 1.0);
  const Matrix transposed = eigen.vectors.transpose();
  return {eigen.vectors * roots.asDiagonal() * transposed, eigen.vectors * inverses.asDiagonal() * transposed,
          eigen.vectors * dropped.asDiagonal() * transposed};
}

/// One over the entries that are not zero but for rounding.
Vector pseudo_inverse(const Vector& x, double floor) {
  return (x.array() > floor).select(x.cwiseInverse(), 0.0);
}

/// Derivatives of the fidelity f in metric coordinates.
struct FidelityGradient {
  Matrix from;    ///< blocks of A
  Matrix to;      ///< blocks of C0
  Matrix factor;  ///< F
};

FidelityGradient diagonal_fidelity(const Covariance& from, const Covariance& to) {
  const Vector a = from.stacked_blocks().col(0);
  const Vector c = to.stacked_blocks().col(0);
  const Vector root = a.cwiseSqrt();
  const Vector sigma = root.cwiseProduct(c.cwiseSqrt());
  const double floor = kZeroFidelity * sigma.maxCoeff();
  Vector n_bar = 0.5 * pseudo_inverse(sigma, floor);
  FidelityGradient gradient;
  gradient.factor = Matrix::Zero(to.dimension(), to.rank());
  Vector through_factor = Vector::Zero(a.size());
  if (to.rank() > 0) {
    const TraceSqrtGradient gain = trace_sqrt_gradient(a.cwiseProduct(c), root.asDiagonal() * to.factor(), 1);
    n_bar += (sigma.array() > floor).select(gain.blocks.col(0), 0.0);
    gradient.factor = root.asDiagonal() * gain.columns;
    through_factor =
        0.5 * pseudo_inverse(root, 0.0).cwiseProduct(gain.columns.cwiseProduct(to.factor()).rowwise().sum());
  }
  gradient.from = n_bar.cwiseProduct(c) + through_factor;
  gradient.to = n_bar.cwiseProduct(a);
  return gradient;
}

/// The blocks of A and C0, coupled: S_A S_C = P diag(sigma) R' in each block.
struct CoupledBlocks {
  std::vector<Root> roots;       ///< of A
  std::vector<Matrix> rotation;  ///< P
  Vector sigma;
};

CoupledBlocks couple_blocks(const Covariance& from, const Covariance& to) {
  const Index b = from.block_size();
  CoupledBlocks coupled{{}, {}, Vector(from.dimension())};
  for (Index i = 0; i < from.block_count(); ++i) {
    coupled.roots.push_back(root_of(from.block(i)));
    const Matrix product = coupled.roots.back().root * root_of(to.block(i)).root;
    const Eigen::BDCSVD<Matrix> svd(product, Eigen::ComputeFullU);
    coupled.rotation.push_back(svd.matrixU());
    coupled.sigma.segment(i * b, b) = svd.singularValues();
  }
  return coupled;
}

FidelityGradient block_fidelity(const Covariance& from, const Covariance& to) {
  const Index b = from.block_size();
  const CoupledBlocks coupled = couple_blocks(from, to);
  FidelityGradient gradient{Matrix(from.dimension(), b), Matrix(from.dimension(), b),
                            Matrix::Zero(to.dimension(), to.rank())};
  TraceSqrtGradient gain{Matrix::Zero(from.dimension(), b), gradient.factor};
  const auto block_of = [b](auto& matrix, Index i) { return matrix.middleRows(i * b, b); };
  if (to.rank() > 0) {
    Matrix y(to.dimension(), to.rank());
    for (Index i = 0; i < from.block_count(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      y.middleRows(i * b, b) =
          coupled.rotation[at].transpose() * (coupled.roots[at].root * to.factor().middleRows(i * b, b));
    }
    gain = trace_sqrt_gradient(coupled.sigma.cwiseAbs2(), y, b);
  }
  const double floor = kZeroFidelity * coupled.sigma.maxCoeff();
  for (Index i = 0; i < from.block_count(); ++i) {
    const Root& root = coupled.roots[static_cast<std::size_t>(i)];
    const Matrix& p = coupled.rotation[static_cast<std::size_t>(i)];
    const Vector sigma = coupled.sigma.segment(i * b, b);
    const Vector counts = (sigma.array() > floor).cast<double>();
    Matrix n_bar = counts.asDiagonal() * block_of(gain.blocks, i) * counts.asDiagonal();
    n_bar.diagonal() += 0.5 * pseudo_inverse(sigma, floor);
    n_bar = (p * n_bar * p.transpose()).eval();
    const Matrix z_bar = p * block_of(gain.columns, i);
    // Of the factor S of A; A_bar S = S_bar / 2 with A_bar symmetric and zero on the null space of A.
    const Matrix s_bar =
        2.0 * (to.block(i) * root.root * n_bar) + to.factor().middleRows(i * b, b) * z_bar.transpose();
    const Matrix half = 0.5 * s_bar * root.inverse;
    const Matrix a_bar = half + half.transpose() * root.null_part;
    block_of(gradient.from, i) = 0.5 * (a_bar + a_bar.transpose());
    block_of(gradient.to, i) = root.root * n_bar * root.root;
    block_of(gradient.factor, i) = root.root * z_bar;
  }
  return gradient;
}

/// diag(scale) B diag(scale) of stacked blocks.
Matrix scaled_blocks(const Matrix& blocks, const Vector& scale) {
  return Covariance::block_diagonal(blocks).scaled(scale).stacked_blocks();
}

/// The diagonal of a product of block-diagonal matrices, the second symmetric.
Vector product_diagonal(const Matrix& a, const Matrix& b) { return a.cwiseProduct(b).rowwise().sum(); }

/// I - 2 f_bar, block by block.
Matrix cost_blocks(const Matrix& fidelity) {
  Matrix blocks = -2.0 * fidelity;
  for (Index i = 0; i < blocks.rows(); ++i) blocks(i, i % blocks.cols()) += 1.0;
  return blocks;
}

}  // namespace

StructuredTransportGradient structured_transport_gradient(const Gaussian& from, const Gaussian& to,
                                                          ConstVectorRef metric) {
  require(from.covariance.rank() == 0 && from.covariance.block_size() == to.covariance.block_size(),
          "structured_transport_gradient: expected blocks of one size and a low-rank part of the second "
          "Gaussian only");
  const Vector scale = metric.cwiseSqrt();
  const Covariance a = from.covariance.scaled(scale);
  const Covariance c = to.covariance.scaled(scale);
  const FidelityGradient f = a.block_size() == 1 ? diagonal_fidelity(a, c) : block_fidelity(a, c);
  const Matrix a_bar = cost_blocks(f.from);
  const Matrix c_bar = cost_blocks(f.to);
  const Matrix factor_bar = 2.0 * (c.factor() - f.factor);
  const Vector difference = from.mean - to.mean;
  const Vector mean_bar = 2.0 * metric.cwiseProduct(difference);
  const Matrix no_factor(from.dimension(), 0);
  StructuredTransportGradient gradient{
      {mean_bar, scaled_blocks(a_bar, scale), no_factor},
      {-mean_bar, scaled_blocks(c_bar, scale), scale.asDiagonal() * factor_bar},
      difference.cwiseAbs2()};
  const Vector scaled = product_diagonal(a_bar, a.stacked_blocks()) +
                        product_diagonal(c_bar, c.stacked_blocks()) +
                        0.5 * factor_bar.cwiseProduct(c.factor()).rowwise().sum();
  gradient.metric += scaled.cwiseProduct(pseudo_inverse(metric, 0.0));
  return gradient;
}

}  // namespace mixcert
