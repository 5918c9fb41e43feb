// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md. The cost of T_l = E S_l + eps I is at most  tr(T_l^{-1} (sum_j U_lj H_j +
// (eps + delta_l)^2 I)) with one matrix H_j per neuron (J.4) and weights U that know how neurons depend on
// each other (J.5).
#include "methods/joint/joint_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "methods/joint/cross_moments.h"

namespace mixcert {
namespace {

// What is added to E S, relative to its mean eigenvalue: less makes the inverse larger, more costs itself.
constexpr std::array<double, 6> kRidges = {1e-6, 1e-4, 1e-3, 1e-2, 5e-2, 0.2};

Eigen::Map<const Eigen::RowVectorXd> as_row(const Matrix& matrix) { return {matrix.data(), matrix.size()}; }

/// H_j = (1 + tau) A + (1 + 1/tau) B of (J.4), with what inexact moments may change added to its diagonal.
Matrix spread_matrix(const CrossMoments& moments, Index j) {
  const Matrix k = moments.block(j);
  const Vector mu = moments.mean.col(j);
  const double error = moments.error(j);
  const double mean_error = moments.mean_error(j);
  const Matrix fourth = moments.fourth.middleRows(j * mu.size(), mu.size());
  const Index inputs = mu.size();
  const double trace = k.trace();
  const Matrix mean_square = mu * mu.transpose();
  const Matrix product = (k * mu) * mu.transpose();
  const double square = mu.squaredNorm();
  const Matrix linear = product + product.transpose() + square * k + trace * mean_square;
  const Matrix quadratic = fourth - k * k;
  const double norm = k.norm();
  const double root = std::sqrt(static_cast<double>(inputs));
  const double relative = rounding_gamma(4 * inputs + 32);
  const double linear_error = (3.0 + root) * square * error +
                              (2.0 * mu.norm() + mean_error) * mean_error * (3.0 + root) * (norm + error) +
                              relative * (3.0 + root) * square * norm;
  const double quadratic_error =
      (2.0 * norm + error) * error + relative * (fourth.norm() + norm * norm) + moments.fourth_error(j);
  const double of_linear = positive_part(linear.trace()) + linear_error;
  const double of_quadratic = positive_part(quadratic.trace()) + quadratic_error;
  // (sqrt x + sqrt y)^2 <= (1 + tau) x + (1 + 1/tau) y, with equality at tau = sqrt(y / x).
  const double tau = of_linear > 0.0 && of_quadratic > 0.0 ? std::sqrt(of_quadratic / of_linear) : 1.0;
  if (of_linear == 0.0) return enlarged(quadratic + quadratic_error * Matrix::Identity(inputs, inputs));
  if (of_quadratic == 0.0) return enlarged(linear + linear_error * Matrix::Identity(inputs, inputs));
  const double slack = (1.0 + tau) * linear_error + (1.0 + 1.0 / tau) * quadratic_error;
  return ((1.0 + tau) * linear + (1.0 + 1.0 / tau) * quadratic + slack * Matrix::Identity(inputs, inputs));
}

struct Choice {
  Matrix block;
  double cost;
  double ridge;  ///< negative: the block is tr(E S) I
  bool trivial;
};

/// T and the smaller of (J.3) and the trivial bound, over ridges as the rule says.
Choice ridged_block(const NoiseSpread& output, RidgeRule rule) {
  const Index inputs = output.mean.rows();
  const double trace = output.mean.trace();
  const double scale = trace / static_cast<double>(inputs);
  const double trivial = enlarged(2.0 * trace + std::sqrt(static_cast<double>(inputs)) * output.mean_error);
  // Surely positive definite; the independent coupling (J.3).
  Choice best{trace * Matrix::Identity(inputs, inputs), trivial + trace * static_cast<double>(inputs), -1.0,
              true};
  for (const double ridge : kRidges) {
    const double eps = ridge * scale;
    Choice tried{output.mean, trivial + static_cast<double>(inputs) * eps, ridge, true};
    tried.block.diagonal().array() += eps;
    const ProvenInverse inverse = proven_inverse(tried.block, 0.5 * eps);
    if (!inverse.proven) continue;
    const Matrix product = inverse.root.transpose() * inverse.root;
    const double size = enlarged(product.trace());
    const double off = enlarged(eps + output.mean_error) + 4 * kUnitRoundoff * trace;
    const double rounding = rounding_gamma(2 * inputs * inputs + 2 * inputs) * output.spread.norm();
    const double cost =
        product.cwiseProduct(output.spread).sum() + size * (off * off + output.spread_error + rounding);
    // NaN, left by an overflow of fourth moments, must not count as zero: min keeps the trivial cost then.
    const double proven = (cost <= 0.0 ? 0.0 : cost) * inverse.factor;
    tried.trivial = !(proven < tried.cost);
    tried.cost = enlarged(std::min(tried.cost, proven));
    if (rule == RidgeRule::Least) return tried;
    if (tried.cost < best.cost) best = std::move(tried);
  }
  return best;
}

/// The same, or a truncated block (J.8) where that is cheaper.
Choice choose_block(const NoiseSpread& output, RidgeRule rule) {
  Choice best = ridged_block(output, rule);
  if (rule != RidgeRule::Truncated) return best;
  TruncatedBlock truncated = truncated_block(output);
  if (!(truncated.cost < best.cost)) return best;
  return {std::move(truncated.block), truncated.cost, std::numeric_limits<double>::quiet_NaN(), false};
}

Matrix as_matrix(const Eigen::RowVectorXd& row, Index inputs) {
  const Eigen::Map<const Matrix> matrix(row.data(), inputs, inputs);
  return 0.5 * (matrix + matrix.transpose());
}

}  // namespace

NeuronTerms neuron_terms(const CrossMoments& moments) {
  const Index neurons = moments.neuron_count();
  const Index inputs = moments.input_count();
  NeuronTerms terms{Matrix(neurons, inputs * inputs), Vector(neurons), Matrix(neurons, inputs * inputs),
                    Vector(neurons)};
  for (Index j = 0; j < neurons; ++j) {
    const Matrix k = moments.block(j);
    const Vector mu = moments.mean.col(j);
    const double mean_error = moments.mean_error(j);
    const Matrix second = k + mu * mu.transpose();
    terms.second.row(j) = as_row(second);
    terms.second_error(j) = enlarged(moments.error(j) + (2.0 * mu.norm() + mean_error) * mean_error);
    const Matrix spread = spread_matrix(moments, j);
    terms.spread.row(j) = as_row(spread);
    terms.spread_norm(j) = enlarged(spread.norm());
  }
  return terms;
}

Matrix dependence_weights(const Matrix& variance, const Matrix& rho, const Vector& spread_norm) {
  if (rho.size() == 0) return variance.cwiseAbs2();
  const double floor = kLeastSpread * spread_norm.maxCoeff() + 1e-300;
  const Vector scale = spread_norm.cwiseMax(floor).cwiseSqrt();
  const Matrix left = variance * scale.asDiagonal() * rho;
  return enlarged(left.cwiseProduct(variance * scale.cwiseInverse().asDiagonal()));
}

JointNoise joint_noise(const DenseLayer& next, const Gaussian& law, const CrossMoments& moments,
                       RidgeRule rule) {
  const Index inputs = moments.input_count();
  const Index outputs = next.outputs();
  const Index neurons = moments.neuron_count();
  JointNoise noise{Matrix(outputs * inputs, inputs), Vector::Zero(outputs), Vector::Zero(outputs),
                   std::vector<bool>(static_cast<std::size_t>(outputs), false)};
  for (Index l = 0; l < outputs; ++l)
    noise.blocks.middleRows(l * inputs, inputs).setConstant(next.bias_variances()(l));
  const Matrix* variances = independent_variances(next.weights());
  if (variances == nullptr) return noise;
  const Matrix& v = *variances;
  const NeuronTerms terms = neuron_terms(moments);
  const Matrix u = dependence_weights(v, neuron_correlation(law.covariance, inputs), terms.spread_norm);
  const double gamma = rounding_gamma(4 * neurons + 64);
  for (Index l = 0; l < outputs; ++l) {
    if (v.row(l).isZero(0.0)) continue;
    // All rows of a prior are alike.
    if (l > 0 && v.row(l) == v.row(l - 1) && next.bias_variances()(l) == next.bias_variances()(l - 1)) {
      noise.blocks.middleRows(l * inputs, inputs) = noise.blocks.middleRows((l - 1) * inputs, inputs).eval();
      noise.cost(l) = noise.cost(l - 1);
      noise.ridge(l) = noise.ridge(l - 1);
      noise.trivial[static_cast<std::size_t>(l)] = noise.trivial[static_cast<std::size_t>(l - 1)];
      continue;
    }
    NoiseSpread output;
    output.mean = as_matrix(v.row(l) * terms.second, inputs);
    output.mean.array() += next.bias_variances()(l);
    output.spread = as_matrix(u.row(l) * terms.spread, inputs);
    const double size = output.mean.trace();
    output.mean_error = enlarged(v.row(l).dot(terms.second_error) + gamma * size);
    output.spread_error = enlarged(gamma * u.row(l).dot(terms.spread_norm));
    Choice choice = choose_block(output, rule);
    noise.blocks.middleRows(l * inputs, inputs) = choice.block;
    noise.cost(l) = choice.cost;
    noise.ridge(l) = choice.ridge;
    noise.trivial[static_cast<std::size_t>(l)] = choice.trivial;
  }
  return noise;
}

}  // namespace mixcert
