// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the noise of a layer is made of, backwards: the matrices H_j (Z.66) and the correlations of neurons
// (Z.67).
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/elementary.h"
#include "gradient/joint/joint_gradient.h"
#include "methods/joint/cross_moments.h"

namespace mixcert {

// (Z.66): H = (1 + tau) A + (1 + 1/tau) (Gamma - K^2) plus what inexact moments add, tau^2 the ratio of the
// traces of the two, backwards.

namespace {

// Means of odd functions at zero are rounding: their part of H has no direction.
constexpr double kLeastShare = 1e-20;

/// A = K mu mu' + mu mu' K + |mu|^2 K + tr(K) mu mu'.
struct LinearPart {
  Matrix value;
  double error = 0.0;
};

LinearPart linear_part(const Matrix& k, const Vector& mu, double error) {
  const Matrix product = (k * mu) * mu.transpose();
  const double square = mu.squaredNorm();
  const double root = std::sqrt(static_cast<double>(mu.size()));
  return {product + product.transpose() + square * k + k.trace() * mu * mu.transpose(),
          (3.0 + root) * square * error};
}

void pull_linear(const Matrix& k, const Vector& mu, double error, const Matrix& of_value, double of_error,
                 NeuronCotangent& neuron) {
  const double root = 3.0 + std::sqrt(static_cast<double>(mu.size()));
  const double square = mu.squaredNorm();
  const Matrix outer = mu * mu.transpose();
  neuron.error += of_error * root * square;
  const double of_square = of_error * root * error + inner(of_value, k);
  neuron.covariance += square * of_value + of_value * outer + outer * of_value;
  neuron.covariance.diagonal().array() += inner(of_value, outer);
  const Matrix of_outer = k.trace() * of_value + of_value * k + k * of_value;
  neuron.mean += 2.0 * (of_outer * mu + of_square * mu);
}

}  // namespace

void pull_spread(const CrossMoments& moments, Index j, const Matrix& spread, NeuronCotangent& neuron) {
  if (spread.isZero(0.0)) return;
  const Matrix k = moments.block(j);
  const Vector mu = moments.mean.col(j);
  const double error = moments.error(j);
  const double norm = k.norm();
  const LinearPart linear = linear_part(k, mu, error);
  const Matrix quadratic = Matrix(moments.fourth.middleRows(j * mu.size(), mu.size())) - k * k;
  const double quadratic_error = (2.0 * norm + error) * error + moments.fourth_error(j);
  const double of_linear_trace = positive_part(linear.value.trace()) + linear.error;
  const double of_quadratic_trace = positive_part(quadratic.trace()) + quadratic_error;
  Matrix of_quadratic = spread;
  double of_quadratic_error = spread.trace();
  if (of_quadratic_trace <= 0.0) {
    pull_linear(k, mu, error, spread, spread.trace(), neuron);
    return;
  }
  if (of_linear_trace > kLeastShare * of_quadratic_trace) {
    const double tau = std::sqrt(of_quadratic_trace / of_linear_trace);
    const double of_tau = inner(spread, linear.value) + spread.trace() * linear.error -
                          (inner(spread, quadratic) + spread.trace() * quadratic_error) / (tau * tau);
    const double up = of_tau * tau / (2.0 * of_quadratic_trace);
    const double down = -of_tau * tau / (2.0 * of_linear_trace);
    Matrix of_linear = (1.0 + tau) * spread;
    of_linear.diagonal().array() += down;
    pull_linear(k, mu, error, of_linear, (1.0 + tau) * spread.trace() + down, neuron);
    of_quadratic *= 1.0 + 1.0 / tau;
    of_quadratic_error = of_quadratic_error * (1.0 + 1.0 / tau) + up;
    if (quadratic.trace() > 0.0) of_quadratic.diagonal().array() += up;
  }
  neuron.fourth += of_quadratic;
  neuron.fourth_error += of_quadratic_error;
  neuron.covariance -= of_quadratic * k + k * of_quadratic;
  neuron.error += of_quadratic_error * 2.0 * (norm + error);
  if (norm > 0.0) neuron.covariance += of_quadratic_error * 2.0 * error / norm * k;
}

// (Z.67): rho_ij = (tr N^4)^{1/8}, N = C_ii^{-1} C_ij C_jj^{-1} C_ji, where it is below one; elsewhere it is
// a constant.

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
