// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of transport costs: dense (Z.40 - Z.42), and of the gain of structured covariances (Z.24).
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "gradient/weight_gradient.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"
#include "mixcert/transport/mixture_transport.h"
#include "mixture/symmetric_eigen.h"
#include "transport/trace_sqrt_rule.h"

namespace mixcert {

// Everything comes from the singular values of A^{1/2} B^{1/2}: of the matrix B^{1/2} A B^{1/2} itself,
// eigenvalues below 1e-16 of the largest, thus singular values below 1e-8, would be lost, and kernels of
// smooth functions have many of those.

namespace {

/// What rounding leaves of a zero, as a part of the largest eigenvalue or singular value.
double vanishing_part(Index dimension) {
  return static_cast<double>(dimension) * std::numeric_limits<double>::epsilon();
}

/// Symmetric root; eigenvalues that are rounding become zero (Z.41).
Matrix stable_root(ConstMatrixRef matrix) {
  const SymmetricEigen eigen = symmetric_eigen(matrix);
  const double least = vanishing_part(matrix.rows()) * positive_part(eigen.values.maxCoeff());
  const Vector roots =
      eigen.values.unaryExpr([least](double value) { return value > least ? std::sqrt(value) : 0.0; });
  return eigen.vectors * roots.asDiagonal() * eigen.vectors.transpose();
}

/// Couplings between components: the product when one side has a single one, which is all there is.
std::vector<PlanEntry> component_plan(const GaussianMixture& a, const GaussianMixture& b) {
  if (a.size() > 1 && b.size() > 1) return mixture_transport(a, b).plan.entries;
  std::vector<PlanEntry> entries;
  for (Index i = 0; i < a.size(); ++i) {
    for (Index j = 0; j < b.size(); ++j) entries.push_back({i, j, a.weights()(i) * b.weights()(j)});
  }
  return entries;
}

}  // namespace

GaussianTransportGradient gaussian_transport_gradient(ConstVectorRef mean_a, ConstMatrixRef covariance_a,
                                                      ConstVectorRef mean_b, ConstMatrixRef covariance_b) {
  const Index n = mean_a.size();
  require(n > 0 && mean_b.size() == n && covariance_a.rows() == n && covariance_a.cols() == n &&
              covariance_b.rows() == n && covariance_b.cols() == n,
          "gaussian_transport_gradient: dimensions differ");
  const Matrix root_b = stable_root(covariance_b);
  const Matrix product = stable_root(covariance_a) * root_b;
  const SingularValues svd = singular_values(product);
  const Vector& sigma = svd.values;
  const double least = vanishing_part(n) * sigma(0);
  const Vector scale =
      sigma.unaryExpr([least](double value) { return value > least ? 1.0 / std::sqrt(value) : 0.0; });
  const Matrix half = root_b * svd.right * scale.asDiagonal();
  GaussianTransportGradient result;
  const double bures = covariance_a.trace() + covariance_b.trace() - 2.0 * sigma.sum();
  result.squared = (mean_a - mean_b).squaredNorm() + positive_part(bures);
  result.mean = 2.0 * (mean_a - mean_b);
  Matrix lower = Matrix::Identity(n, n);
  lower.selfadjointView<Eigen::Lower>().rankUpdate(half, -1.0);
  result.covariance = lower.selfadjointView<Eigen::Lower>();
  return result;
}

MixtureTransportGradient mixture_transport_gradient(const GaussianMixture& a, const GaussianMixture& b) {
  require(a.size() > 0 && b.size() > 0 && a.dimension() == b.dimension(),
          "mixture_transport_gradient: mixtures of dimensions " + std::to_string(a.dimension()) + " and " +
              std::to_string(b.dimension()) + ", expected equal ones");
  const Index n = a.dimension();
  MixtureTransportGradient result;
  result.means.assign(static_cast<std::size_t>(a.size()), Vector::Zero(n));
  result.covariances.assign(static_cast<std::size_t>(a.size()), Matrix::Zero(n, n));
  double squared = 0.0;
  for (const PlanEntry& entry : component_plan(a, b)) {
    if (!(entry.mass > 0.0)) continue;
    const Gaussian& from = a.component(entry.source);
    const Gaussian& to = b.component(entry.target);
    const GaussianTransportGradient pair =
        gaussian_transport_gradient(from.mean, from.covariance.to_dense(), to.mean, to.covariance.to_dense());
    const auto i = static_cast<std::size_t>(entry.source);
    squared += entry.mass * pair.squared;
    result.means[i] += entry.mass * pair.mean;
    result.covariances[i] += entry.mass * pair.covariance;
  }
  result.distance = std::sqrt(squared);
  // (Z.42). At distance zero, the least value, the one-sided derivatives differ; zero is among them.
  const double chain = result.distance > 0.0 ? 0.5 / result.distance : 0.0;
  for (Vector& mean : result.means) mean *= chain;
  for (Matrix& covariance : result.covariances) covariance *= chain;
  return result;
}

// The gain, node by node: n = tr[R S2] with R = (I + S1)^{-1}, S_k = Y' D^{-k} Y, D = diag(x) + t. With Z =
// D^{-1} Y, E = D^{-1} Z and dD any symmetric change,
//     dn = <2 (E R - Z R S2 R), dY> + <H Z' + Z H', dD>,   H = Z R S2 R / 2 - E R        (Z.24).

namespace {

/// Adds the diagonal blocks of H Z'.
void add_blocks(const Matrix& h, const Matrix& z, Matrix& blocks) {
  const Index b = blocks.cols();
  if (b == 1) {
    blocks += h.cwiseProduct(z).rowwise().sum();
    return;
  }
  for (Index i = 0; i < blocks.rows(); i += b) {
    blocks.middleRows(i, b).noalias() += h.middleRows(i, b) * z.middleRows(i, b).transpose();
  }
}

/// B + B' for each block B.
void add_transposes(Matrix& blocks) {
  const Index b = blocks.cols();
  for (Index i = 0; i < blocks.rows(); i += b) {
    const Matrix block = blocks.middleRows(i, b);
    blocks.middleRows(i, b) += block.transpose();
  }
}

}  // namespace

TraceSqrtGradient trace_sqrt_gradient(ConstVectorRef x, ConstMatrixRef all_columns, Index block_size) {
  TraceSqrtGradient gradient{Matrix::Zero(x.size(), block_size), Matrix::Zero(x.size(), all_columns.cols())};
  const TraceSqrtRule rule = trace_sqrt_rule(x, all_columns);
  const Matrix y = all_columns(Eigen::all, rule.columns);
  const Matrix identity = Matrix::Identity(y.cols(), y.cols());
  Matrix columns = Matrix::Zero(y.rows(), y.cols());
  for (Index node = 0; node < rule.nodes.size(); ++node) {
    const Vector inverse = (positive_part(x.array()) + rule.nodes(node)).inverse();
    const Matrix z = inverse.asDiagonal() * y;
    const Matrix r = (identity + y.transpose() * z).llt().solve(identity);
    const Matrix er = inverse.asDiagonal() * (z * r);
    const Matrix correction = z * (r * (z.transpose() * z) * r);
    const double weight = rule.weights(node);
    columns += 2.0 * weight * (er - correction);
    add_blocks(weight * (0.5 * correction - er), z, gradient.blocks);
  }
  add_transposes(gradient.blocks);
  gradient.columns(Eigen::all, rule.columns) = columns;
  return gradient;
}

}  // namespace mixcert
