// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// In metric coordinates A = S S, C0 = L L (symmetric roots), C = C0 + F F', and in each block S L = P
// diag(sigma) R'. The cost is |dm|^2 + tr A + tr C - 2 f, f = tr sqrt(S C S) = sum sigma + gain. Blocks
// become singular when several inputs see few active neurons, so nothing is divided by sigma: (Z.24) applies
// derivatives to factors.
#include <cmath>
#include <utility>
#include <vector>

#include "gradient/signature/signature_gradient.h"
#include "gradient/weight_gradient.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {
namespace {

// Eigenvalues below this fraction of a block's largest are rounding errors.
constexpr double kZeroEigenvalue = 1e-16;

struct Root {
  Matrix root;
  Matrix inverse;  ///< its pseudo-inverse
};

Root root_of(const Matrix& matrix) {
  const SymmetricEigen eigen = symmetric_eigen(matrix);
  const double floor = kZeroEigenvalue * eigen.values.maxCoeff();
  const Vector roots = (eigen.values.array() > floor).select(positive_part(eigen.values).cwiseSqrt(), 0.0);
  const Vector inverses = (roots.array() > 0.0).select(roots.cwiseInverse(), 0.0);
  const Matrix transposed = eigen.vectors.transpose();
  return {eigen.vectors * roots.asDiagonal() * transposed,
          eigen.vectors * inverses.asDiagonal() * transposed};
}

/// One over the entries that are not zero.
Vector pseudo_inverse(const Vector& x) { return (x.array() > 0.0).select(x.cwiseInverse(), 0.0); }

/// Derivatives of f.
struct FidelityGradient {
  Matrix from;    ///< blocks of A
  Matrix to;      ///< blocks of C0
  Matrix factor;  ///< F
};

/// Everything is elementwise.
FidelityGradient diagonal_fidelity(const Covariance& from, const Covariance& to) {
  const Vector s = from.stacked_blocks().col(0).cwiseSqrt();
  const Vector l = to.stacked_blocks().col(0).cwiseSqrt();
  const Vector sigma = s.cwiseProduct(l);
  Vector half = Vector::Constant(s.size(), 0.5);
  FidelityGradient gradient{{}, {}, Matrix::Zero(to.dimension(), to.rank())};
  Vector through_factor = Vector::Zero(s.size());
  if (to.rank() > 0) {
    const TraceSqrtGradient gain = trace_sqrt_gradient(sigma.cwiseAbs2(), s.asDiagonal() * to.factor(), 1);
    half += sigma.cwiseProduct(gain.blocks.col(0));
    gradient.factor = s.asDiagonal() * gain.columns;
    through_factor = 0.5 * gain.columns.cwiseProduct(to.factor()).rowwise().sum();
  }
  gradient.from = (half.cwiseProduct(l) + through_factor).cwiseProduct(pseudo_inverse(s));
  gradient.to = half.cwiseProduct(s).cwiseProduct(pseudo_inverse(l));
  return gradient;
}

/// One pair of blocks, coupled.
struct CoupledBlocks {
  Root s, l;
  Matrix p, r;
};

class BlockFidelity {
 public:
  BlockFidelity(const Covariance& from, const Covariance& to) : to_(to), sigma_(to.dimension()) {
    const Index b = from.block_size();
    for (Index i = 0; i < from.block_count(); ++i) {
      // Neurons of a prior are often alike.
      const bool repeated = i > 0 && from.block(i) == from.block(i - 1) && to.block(i) == to.block(i - 1);
      if (repeated) {
        blocks_.push_back(blocks_.back());
        sigma_.segment(i * b, b) = sigma_.segment((i - 1) * b, b).eval();
        continue;
      }
      Root s = root_of(from.block(i));
      Root l = root_of(to.block(i));
      SingularValues svd = singular_values(s.root * l.root);
      sigma_.segment(i * b, b) = svd.values;
      blocks_.push_back({std::move(s), std::move(l), std::move(svd.left), std::move(svd.right)});
    }
  }

  [[nodiscard]] FidelityGradient gradient() const {
    const Index b = to_.block_size();
    const TraceSqrtGradient gain = gain_gradient();
    FidelityGradient result{Matrix(to_.dimension(), b), Matrix(to_.dimension(), b),
                            Matrix::Zero(to_.dimension(), to_.rank())};
    for (std::size_t at = 0; at < blocks_.size(); ++at) {
      const Index first = static_cast<Index>(at) * b;
      const CoupledBlocks& block = blocks_[at];
      // 1/2 + diag(sigma) W: L R times it is C0 S times the derivatives in S C0 S, in the basis P.
      Matrix half = sigma_.segment(first, b).asDiagonal() * gain.blocks.middleRows(first, b);
      half.diagonal().array() += 0.5;
      Matrix s_bar = block.l.root * block.r * half * block.p.transpose();
      if (to_.rank() > 0) {
        const Matrix z_bar = block.p * gain.columns.middleRows(first, b);
        s_bar += 0.5 * to_.factor().middleRows(first, b) * z_bar.transpose();
        result.factor.middleRows(first, b) = block.s.root * z_bar;
      }
      result.from.middleRows(first, b) = s_bar * block.s.inverse;
      result.to.middleRows(first, b) =
          block.s.root * block.p * half.transpose() * block.r.transpose() * block.l.inverse;
    }
    return result;
  }

 private:
  [[nodiscard]] TraceSqrtGradient gain_gradient() const {
    const Index b = to_.block_size();
    if (to_.rank() == 0) return {Matrix::Zero(to_.dimension(), b), Matrix(to_.dimension(), 0)};
    Matrix y(to_.dimension(), to_.rank());
    for (std::size_t at = 0; at < blocks_.size(); ++at) {
      const Index first = static_cast<Index>(at) * b;
      y.middleRows(first, b) =
          blocks_[at].p.transpose() * (blocks_[at].s.root * to_.factor().middleRows(first, b));
    }
    return trace_sqrt_gradient(sigma_.cwiseAbs2(), y, b);
  }

  const Covariance& to_;
  std::vector<CoupledBlocks> blocks_;
  Vector sigma_;
};

/// diag(scale) B diag(scale) of stacked blocks.
Matrix scaled_blocks(const Matrix& blocks, const Vector& scale) {
  return Covariance::block_diagonal(blocks).scaled(scale).stacked_blocks();
}

/// The diagonal of a product of block-diagonal matrices; the second is symmetric.
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
  const FidelityGradient f = a.block_size() == 1 ? diagonal_fidelity(a, c) : BlockFidelity(a, c).gradient();
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
  gradient.metric += scaled.cwiseProduct(pseudo_inverse(metric));
  return gradient;
}

}  // namespace mixcert
