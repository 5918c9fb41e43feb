// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.67): rho_ij = (tr N^4)^{1/8}, N = C_ii^{-1} C_ij C_jj^{-1} C_ji, where it is
// below one; elsewhere it is a constant.
#include <Eigen/Cholesky>
#include <cmath>
#include <vector>

#include "gradient/joint/joint_gradient.h"
#include "methods/joint/neuron_correlation.h"

namespace mixcert {

void pull_neuron_correlation(const Covariance& covariance, Index input_count, const Matrix& of_rho,
                             Matrix& law) {
  const Index d = input_count;
  const Index neurons = covariance.dimension() / d;
  const Matrix rho = neuron_correlation(covariance, d);
  const Matrix dense = covariance.to_dense();
  if (law.size() == 0) law = Matrix::Zero(dense.rows(), dense.cols());
  std::vector<Matrix> inverses;
  for (Index j = 0; j < neurons; ++j) {
    inverses.emplace_back(Eigen::LLT<Matrix>(dense.block(j * d, j * d, d, d)).solve(Matrix::Identity(d, d)));
  }
  for (Index i = 0; i < neurons; ++i) {
    for (Index j = 0; j < i; ++j) {
      const double weight = of_rho(i, j) + of_rho(j, i);
      if (weight == 0.0 || rho(i, j) >= 1.0 || rho(i, j) == 0.0) continue;
      const Matrix& left = inverses[static_cast<std::size_t>(i)];
      const Matrix& right = inverses[static_cast<std::size_t>(j)];
      const auto cross = dense.block(i * d, j * d, d, d);
      const Matrix first = left * cross;                // C_ii^{-1} C_ij
      const Matrix second = right * cross.transpose();  // C_jj^{-1} C_ji
      const Matrix n = first * second;
      const Matrix cube = n * n * n;
      const double trace = (n * cube).trace();
      if (!(trace > 0.0)) continue;
      // d rho = (1/8) (tr N^4)^{-7/8} 4 tr(N^3 dN).
      const double scale = weight * 0.5 * std::pow(trace, -0.875);
      // dN = -C_ii^{-1} dC_ii N + C_ii^{-1} dC_ij second - first C_jj^{-1} dC_jj second + first C_jj^{-1}
      // dC_ji.
      const Matrix of_left = -scale * (n * cube * left).transpose();
      const Matrix of_right = -scale * (second * cube * first * right).transpose();
      const Matrix of_cross = 2.0 * scale * (second * cube * left).transpose();
      law.block(i * d, i * d, d, d) += 0.5 * (of_left + of_left.transpose());
      law.block(j * d, j * d, d, d) += 0.5 * (of_right + of_right.transpose());
      law.block(i * d, j * d, d, d) += 0.5 * of_cross;
      law.block(j * d, i * d, d, d) += 0.5 * of_cross.transpose();
    }
  }
}

}  // namespace mixcert
