// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md (J.8). Eigenvectors are computed and need not be trusted: what they lack of
// being orthonormal is measured and added.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "methods/joint/joint_noise.h"
#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {

namespace {

/// Of a mean eigenvalue: added to directions that are not inverted, so that T is positive definite.
constexpr double kLeftover = 1e-6;
/// Of the largest eigenvalue: directions below are never inverted.
constexpr double kLeastEigenvalue = 1e-9;

/// E S in the basis of its eigenvectors, largest first, with everything that rounding may change. Below,
/// "turned" means: by the orthonormal basis nearest to the computed one.
struct EigenFrame {
  Matrix basis;
  Matrix mean;                ///< turned E S, as computed
  double mean_error = 0.0;    ///< Frobenius, of the turned E S
  Vector spread;              ///< diagonal of the turned spread
  double spread_error = 0.0;  ///< of each of its entries
  double turn_error = 0.0;    ///< Frobenius distance to the orthonormal basis, at most
};

EigenFrame eigen_frame(const NoiseSpread& noise) {
  const Index n = noise.mean.rows();
  EigenFrame frame;
  frame.basis = symmetric_eigen(noise.mean).vectors.rowwise().reverse();
  const Matrix gram = frame.basis.transpose() * frame.basis;
  const double gamma = rounding_gamma(2 * n + 8);
  const auto dimension = static_cast<double>(n);
  // |E - polar factor of E|_F <= |E'E - I|_F.
  frame.turn_error = enlarged((gram - Matrix::Identity(n, n)).norm() + gamma * 2.0 * dimension);
  frame.mean = frame.basis.transpose() * noise.mean * frame.basis;
  const double turned = 2.0 * frame.turn_error * (1.0 + frame.turn_error) + 2.0 * gamma * 2.0 * dimension;
  frame.mean_error = enlarged(noise.mean_error + turned * noise.mean.norm());
  frame.spread = (frame.basis.transpose() * noise.spread * frame.basis).diagonal();
  frame.spread_error = enlarged(noise.spread_error + turned * noise.spread.norm());
  return frame;
}

/// T = basis diag(t) basis' as stored, and how far it is from the exact one (Powers and Stormer).
struct StoredBlock {
  Matrix block;
  double moved = 0.0;  ///< W2^2 between the two Gaussians, at most
  bool definite = false;
};

StoredBlock stored_block(const EigenFrame& frame, const Vector& t) {
  const Index n = t.size();
  StoredBlock stored;
  const Matrix product = frame.basis * t.asDiagonal() * frame.basis.transpose();
  stored.block = 0.5 * (product + product.transpose());
  const double error = enlarged((2.0 * frame.turn_error * (1.0 + frame.turn_error) +
                                 rounding_gamma(2 * n + 8) * 2.0 * static_cast<double>(n)) *
                                t.norm());
  stored.moved = std::sqrt(static_cast<double>(n)) * error;
  stored.definite = t.minCoeff() > 2.0 * error;
  return stored;
}

/// Directions 0..kept-1 inverted.
double truncated_cost(const EigenFrame& frame, const Vector& t, Index kept, double left_out) {
  double spread = 0.0, inverse = 0.0, residual = 0.0;
  for (Index k = 0; k < kept; ++k) {
    spread += (positive_part(frame.spread(k)) + frame.spread_error) / t(k);
    inverse += 1.0 / t(k);
    const Vector row = frame.mean.row(k).head(kept);
    // Without the diagonal from the start: a difference of squares would lose small entries.
    const double others = row.head(k).squaredNorm() + row.tail(kept - k - 1).squaredNorm();
    residual += (others + std::pow(row(k) - t(k), 2)) / t(k);
  }
  const double off = enlarged(std::sqrt(positive_part(residual))) + frame.mean_error * std::sqrt(inverse);
  return enlarged(spread + off * off + left_out);
}

}  // namespace

TruncatedBlock truncated_block(const NoiseSpread& noise) {
  const Index n = noise.mean.rows();
  const double infinity = std::numeric_limits<double>::infinity();
  TruncatedBlock best{{}, infinity};
  if (!noise.mean.allFinite() || !noise.spread.allFinite()) return best;
  const EigenFrame frame = eigen_frame(noise);
  const Vector values = frame.mean.diagonal();
  const double leftover = kLeftover * noise.mean.trace() / static_cast<double>(n);
  if (!(leftover > 0.0)) return best;
  Index kept = 0;
  Vector chosen;
  // The trace of the turned E S over directions that are left out, for each number of them.
  double rest = positive_part(values).sum() + std::sqrt(static_cast<double>(n)) * frame.mean_error;
  Vector t = positive_part(values).array() + leftover;
  for (Index k = 1; k <= n && values(k - 1) > kLeastEigenvalue * values(0); ++k) {
    rest -= values(k - 1);
    t(k - 1) = values(k - 1);
    const double left_out =
        enlarged(positive_part(rest) + t.tail(n - k).sum() + rounding_gamma(4 * n + 16) * noise.mean.trace());
    const double cost = truncated_cost(frame, t, k, left_out);
    if (!(cost < best.cost)) continue;
    best.cost = cost;
    kept = k;
    chosen = t;
  }
  if (kept == 0) return best;
  StoredBlock stored = stored_block(frame, chosen);
  if (!stored.definite) return {{}, infinity};
  best.block = std::move(stored.block);
  best.cost = enlarged(std::pow(std::sqrt(best.cost) + std::sqrt(stored.moved), 2));
  return best;
}

// docs/theory/joint-moments.md (J.7): two Cholesky factorisations, one to prove the smallest eigenvalue, one
// to invert.

ProvenInverse proven_inverse(const Matrix& t, double least) {
  ProvenInverse inverse;
  const Index n = t.rows();
  const double trace = t.trace();
  const double gamma = 4.0 * rounding_gamma(n + 4);
  const double smallest = least - gamma * trace;
  if (!(smallest > 0.0) || !std::isfinite(trace)) return inverse;
  const Matrix shifted = t - least * Matrix::Identity(n, n);
  if (Eigen::LLT<Matrix>(shifted).info() != Eigen::Success) return inverse;
  // Now T >= smallest I.
  const Eigen::LLT<Matrix> factorisation(t);
  if (factorisation.info() != Eigen::Success) return inverse;
  const double ratio = gamma * trace / smallest;
  const Matrix lower = factorisation.matrixL();
  inverse.root = lower.triangularView<Eigen::Lower>().solve(Matrix::Identity(n, n));
  const double size = lower.norm();
  const double residual =
      gamma * size * size * inverse.root.norm() / std::sqrt(smallest * (1.0 - std::min(ratio, 0.5)));
  if (!(ratio < 0.1) || !(residual < 0.1)) return inverse;
  inverse.proven = true;
  inverse.factor = (1.0 + ratio) / ((1.0 - residual) * (1.0 - residual)) * (1.0 + 1e-12);
  return inverse;
}

}  // namespace mixcert
