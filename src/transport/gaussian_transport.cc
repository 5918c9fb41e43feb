// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// W2 between Gaussians with structured covariances: docs/theory/transport.md (T.1) to (T.5).
#include "mixcert/transport/gaussian_transport.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "mixcert/core/error.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {
namespace {

/// Symmetric square root of a positive semidefinite matrix and a bound of the trace norm of
/// root^2 - matrix, found by forming that difference (T.5).
struct SquareRoot {
  Matrix root;
  double error = 0.0;
};

SquareRoot square_root(const Matrix& matrix) {
  const SymmetricEigen eigen = symmetric_eigen(matrix);
  const Vector roots = positive_part(eigen.values).cwiseSqrt();
  SquareRoot result;
  result.root = eigen.vectors * roots.asDiagonal() * eigen.vectors.transpose();
  const double n = static_cast<double>(matrix.rows());
  const double residual = (result.root * result.root - matrix).norm();
  const double rounding = rounding_gamma(2 * matrix.rows() + 4) * result.root.squaredNorm();
  result.error = std::sqrt(n) * (residual + rounding);
  return result;
}

/// The blocks of A and C seen from their common coupling: with S_A S_C = P diag(sigma) R' for
/// each block, sigma^2 are the eigenvalues of S_A C S_A.
struct BlockCoupling {
  Vector sigma;
  Matrix left;  ///< P' S_A times A's or C's low-rank factor goes here
  Matrix right;
  double cost = 0.0;            ///< tr A0 + tr C0 - 2 sum sigma
  double slack = 0.0;           ///< bound of what rounding can have taken off `cost`
  double covariance_error = 0;  ///< trace norms of the factorisation errors
};

/// Diagonal blocks: everything is elementwise and nothing cancels.
BlockCoupling diagonal_coupling(const Covariance& a, const Covariance& c) {
  BlockCoupling coupling;
  const Vector root_a = a.stacked_blocks().col(0).cwiseSqrt();
  const Vector root_c = c.stacked_blocks().col(0).cwiseSqrt();
  coupling.sigma = root_a.cwiseProduct(root_c);
  coupling.left = root_a.asDiagonal() * c.factor();
  coupling.right = root_c.asDiagonal() * a.factor();
  coupling.cost = (root_a - root_c).squaredNorm();
  const double sum = root_a.squaredNorm() + root_c.squaredNorm();
  coupling.slack = rounding_gamma(8) * sum + rounding_gamma(root_a.size() + 8) * coupling.cost;
  return coupling;
}

/// One pair of dense blocks.
struct CoupledBlock {
  SquareRoot root_a, root_c;
  Matrix left, right;  ///< P and R
  Vector sigma;
  double cost = 0.0;
  double slack = 0.0;
};

CoupledBlock couple_blocks(const Matrix& a, const Matrix& c) {
  const Index b = a.rows();
  CoupledBlock coupled{square_root(a), square_root(c), {}, {}, {}};
  const Matrix product = coupled.root_a.root * coupled.root_c.root;
  SingularValues svd = singular_values(product);
  coupled.left = std::move(svd.left);
  coupled.right = std::move(svd.right);
  coupled.sigma = std::move(svd.values);
  const double traces = a.trace() + c.trace();
  coupled.cost = positive_part(traces - 2.0 * coupled.sigma.sum());
  // (T.5): P and R enter as they are; what they lack in orthogonality and what P sigma R'
  // lacks of the product can only have raised the sum of singular values by this much.
  const Matrix rest = product - coupled.left * coupled.sigma.asDiagonal() * coupled.right.transpose();
  const Matrix identity = Matrix::Identity(b, b);
  const double loss = (coupled.left.transpose() * coupled.left - identity).norm() +
                      (coupled.right.transpose() * coupled.right - identity).norm();
  const double root_b = std::sqrt(static_cast<double>(b));
  coupled.slack = 2.0 * root_b * (rest.norm() + loss * product.norm()) +
                  4.0 * root_b * rounding_gamma(4 * b + 16) * traces;
  return coupled;
}

BlockCoupling dense_coupling(const Covariance& a, const Covariance& c) {
  const Index b = a.block_size();
  BlockCoupling coupling;
  coupling.sigma.resize(a.dimension());
  coupling.left.resize(a.dimension(), c.rank());
  coupling.right.resize(a.dimension(), a.rank());
  CoupledBlock block;
  for (Index i = 0; i < a.block_count(); ++i) {
    // Neurons of a prior are often alike.
    const bool repeated = i > 0 && a.block(i) == a.block(i - 1) && c.block(i) == c.block(i - 1);
    if (!repeated) block = couple_blocks(a.block(i), c.block(i));
    const auto rows = Eigen::seqN(i * b, b);
    coupling.sigma(rows) = block.sigma;
    // Eigen forms pointers into the factors' rows, which empty ones do not have.
    if (c.rank() > 0) {
      coupling.left(rows, Eigen::all) =
          block.left.transpose() * (block.root_a.root * c.factor()(rows, Eigen::all));
    }
    if (a.rank() > 0) {
      coupling.right(rows, Eigen::all) =
          block.right.transpose() * (block.root_c.root * a.factor()(rows, Eigen::all));
    }
    coupling.cost += block.cost;
    coupling.slack += block.slack;
    coupling.covariance_error += block.root_a.error + block.root_c.error;
  }
  return coupling;
}

/// Cost of the covariances alone in Euclidean coordinates.
UpperBound covariance_cost(const Covariance& a, const Covariance& c) {
  const BlockCoupling coupling = a.block_size() == 1 ? diagonal_coupling(a, c) : dense_coupling(a, c);
  const double low_rank = a.factor().squaredNorm() + c.factor().squaredNorm();
  const Vector squared = coupling.sigma.cwiseAbs2();
  // (T.4): A0 with C, C0 with A, or blocks with blocks and factors with factors.
  double gain = 0.0;
  if (c.rank() > 0) gain = trace_sqrt_gain(squared, coupling.left);
  if (a.rank() > 0) gain = std::max(gain, trace_sqrt_gain(squared, coupling.right));
  if (a.rank() > 0 && c.rank() > 0) {
    const Matrix cross = a.factor().transpose() * c.factor();
    const double rounding = rounding_gamma(a.dimension() + 8 * cross.size() + 64) * low_rank;
    gain = std::max(gain, trace_norm(cross) - rounding);
  }
  const double nominal = positive_part(coupling.cost + low_rank - 2.0 * gain);
  // The rotated factors inside the gain are off by a few units of their own norm (T.5).
  const double rotated = 4.0 * std::sqrt(static_cast<double>(a.rank() + c.rank())) *
                         rounding_gamma(4 * a.block_size() + 32) * (a.trace() + c.trace());
  const double slack =
      coupling.slack + rotated + rounding_gamma(a.dimension() + 16) * (coupling.cost + 2.0 * low_rank);
  const UpperBound cost = UpperBound::within(nominal, slack);
  if (coupling.covariance_error == 0.0) return cost;
  // (T.5): an error of the covariances in trace norm costs at most its root in W2.
  const double extra = next_up(std::sqrt(2.0 * coupling.covariance_error));
  const double root = next_up(next_up(std::sqrt(cost.upper)) + extra);
  return {cost.nominal, next_up(root * root)};
}

constexpr Index kExpandUpTo = 200;

Covariance as_dense(const Covariance& covariance) { return Covariance::dense(covariance.to_dense()); }

}  // namespace

UpperBound gaussian_transport_cost(const Gaussian& a, const Gaussian& b, ConstVectorRef metric) {
  require(a.dimension() == b.dimension() && metric.size() == a.dimension(),
          "gaussian_transport_cost: dimensions differ");
  const Vector difference = a.mean - b.mean;
  const double mean_cost = metric.dot(difference.cwiseAbs2());
  const Vector scale = metric.cwiseSqrt();
  const Covariance scaled_a = a.covariance.scaled(scale);
  const Covariance scaled_b = b.covariance.scaled(scale);
  // With low-rank parts on both sides (T.4) only bounds the cost; up to this size the exact one is cheap.
  const bool expand = scaled_a.rank() > 0 && scaled_b.rank() > 0 && a.dimension() <= kExpandUpTo;
  const bool same = scaled_a.block_size() == scaled_b.block_size() && !expand;
  const UpperBound spread =
      same ? covariance_cost(scaled_a, scaled_b) : covariance_cost(as_dense(scaled_a), as_dense(scaled_b));
  const double traces = scaled_a.trace() + scaled_b.trace();
  const UpperBound mean = UpperBound::of_sum(mean_cost, a.dimension() + 4);
  // Scaling rounds diagonals and factors relatively, which this absorbs.
  const double scaling = rounding_gamma(4 * a.dimension() + 16) * traces;
  if (same && scaled_a.block_size() == 1) {
    return mean + UpperBound::within(spread.nominal, spread.inflation() + scaling);
  }
  // Blocks, and factors expanded into them, round entry by entry: a trace norm, whose root is the cost (T.5).
  const Index roundings = scaled_a.rank() + scaled_b.rank() + 8;
  const double norm = std::sqrt(static_cast<double>(a.dimension())) * rounding_gamma(roundings) * traces;
  const double root = next_up(std::sqrt(spread.upper)) + next_up(std::sqrt(2.0 * norm));
  return mean + UpperBound::within(spread.nominal, root * root - spread.nominal + scaling);
}

double gelbrich_squared(ConstVectorRef mean_a, ConstMatrixRef covariance_a, ConstVectorRef mean_b,
                        ConstMatrixRef covariance_b) {
  const Matrix product = square_root(covariance_a).root * square_root(covariance_b).root;
  const double fidelity = singular_values(product).values.sum();
  const double bures = covariance_a.trace() + covariance_b.trace() - 2.0 * fidelity;
  return (mean_a - mean_b).squaredNorm() + positive_part(bures);
}

}  // namespace mixcert
