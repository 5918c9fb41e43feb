// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Node by node: n = tr[R S2] with R = (I + S1)^{-1}, S_k = Y' D^{-k} Y, D = diag(x) + t. With Z = D^{-1} Y, E
// = D^{-1} Z and dD any symmetric change,
//     dn = <2 (E R - Z R S2 R), dY> + <H Z' + Z H', dD>,   H = Z R S2 R / 2 - E R        (Z.24).
#include "gradient/trace_sqrt_gradient.h"

#include <Eigen/Cholesky>

#include "mixcert/core/rounding.h"
#include "transport/trace_sqrt_rule.h"

namespace mixcert {
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
