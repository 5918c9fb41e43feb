// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Both paths of a block of draws, a column each, and beside them two numbers per draw: how far the computed
// pre-activations may be from the exact ones of the exact normals, in Euclidean norm.
#include "simulated/coupled_paths.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/error.h"

namespace mixcert {
namespace {

constexpr Index kBlockDraws = 256;
// More than underflow can hide in one step.
constexpr double kUnderflow = 1e-140;

using Row = Eigen::ArrayXd;

Row column_norms(const Matrix& matrix) { return matrix.colwise().norm().transpose().array(); }

class Paths {
 public:
  Paths(const CoupledChain& chain, Index draws, RandomBits& bits) : chain_(chain), bits_(bits) {
    const Vector deviations = chain.first_variance.cwiseSqrt();
    Matrix noise = normals(chain.first_mean.size(), draws);
    noise.array().colwise() *= deviations.array();
    network_ = noise.colwise() + chain.first_mean;
    surrogate_ = network_;
    network_error_ = kNormalError * deviations.norm() + kUnderflow +
                     rounding_gamma(8) * (chain.first_mean.norm() + column_norms(noise));
    surrogate_error_ = network_error_;
  }

  /// F^2 from above, behind the last hidden layer.
  Vector costs() {
    for (std::size_t k = 0; k + 1 < chain_.steps.size(); ++k) advance(chain_.steps[k]);
    return last_costs(chain_.last());
  }

 private:
  Matrix normals(Index rows, Index draws) {
    Matrix numbers(rows, draws);
    fill_normals(bits_, numbers);
    return numbers;
  }

  /// Activations of the network, and how far they may be off.
  Matrix activations(const CoupledStep& step, Row& error) const {
    const double values = std::sqrt(static_cast<double>(network_.rows())) *
                          step.activation->value_error(network_.cwiseAbs().maxCoeff());
    error = step.slope * network_error_ + values;
    return step.activation->apply(network_);
  }
  /// S(a)^{1/2}.
  static Matrix deviations(const CoupledStep& step, const Matrix& activations) {
    Matrix sum = step.variances * activations.cwiseAbs2();
    sum.colwise() += step.next->bias_variances();
    return sum.cwiseSqrt();
  }
  /// mean + gain (zh - center), and the norms that its rounding is measured by.
  Matrix chain_activations(const CoupledStep& step, Row& sizes) const {
    Matrix b = surrogate_;
    b.array().colwise() *= step.gain.array();
    sizes = step.mean.norm() + step.gain.cwiseProduct(step.center).norm() + column_norms(b);
    b.colwise() += step.mean - step.gain.cwiseProduct(step.center);
    return b;
  }

  void advance(const CoupledStep& step) {
    const DenseLayer& next = *step.next;
    const double gamma = rounding_gamma(next.inputs() + 16);
    const Matrix g = normals(next.outputs(), network_.cols());
    Row activation_error, sizes;
    const Matrix a = activations(step, activation_error);
    const Matrix b = chain_activations(step, sizes);
    const Matrix spread = deviations(step, a);
    const Matrix noise = spread.cwiseProduct(g);
    const double bias = next.bias_mean().norm();
    // (sum_l max_j V_lj (|g_l| + dg)^2)^{1/2}: how the network's noise answers to its activations.
    const Matrix weighted = (step.largest_variances.cwiseSqrt().asDiagonal() * g).eval();
    const Row answer = column_norms(weighted) + kNormalError * std::sqrt(step.largest_variances.sum());
    network_error_ = (step.weight_norm + answer) * activation_error + kNormalError * column_norms(spread) +
                     kUnderflow + gamma * (step.weight_size * column_norms(a) + bias + column_norms(noise));
    network_ = next.weight_mean() * a + noise;
    network_.colwise() += next.bias_mean();
    const Matrix chain_noise = step.noise.asDiagonal() * g;
    surrogate_error_ = step.gained_size * surrogate_error_ + kNormalError * step.noise.norm() + kUnderflow +
                       gamma * (step.weight_size * sizes + bias + column_norms(chain_noise));
    surrogate_ = next.weight_mean() * b + chain_noise;
    surrogate_.colwise() += next.bias_mean();
    grow();
  }

  /// What these few operations themselves round.
  void grow() {
    network_error_ = enlarged(network_error_);
    surrogate_error_ = enlarged(surrogate_error_);
  }

  [[nodiscard]] Vector last_costs(const CoupledStep& step) const {
    const DenseLayer& next = *step.next;
    const double gamma = rounding_gamma(next.inputs() + 2 * next.outputs() + 16);
    Row activation_error, sizes;
    const Matrix a = activations(step, activation_error);
    const Matrix b = chain_activations(step, sizes);
    const Matrix spread = deviations(step, a);
    const Row signal = (next.weight_mean() * (a - b)).colwise().squaredNorm().transpose().array();
    const Row noise = (spread.colwise() - step.noise).colwise().squaredNorm().transpose().array();
    const double answer = std::sqrt(step.variances.colwise().sum().maxCoeff());
    const Row error =
        (step.weight_norm + answer) * activation_error + step.gained_size * surrogate_error_ +
        gamma * (step.weight_size * (column_norms(a) + sizes) + column_norms(spread) + step.noise.norm());
    const Row cost = (1.0 + gamma) * (signal + noise).sqrt() + enlarged(enlarged(error)) + kUnderflow;
    return enlarged(cost.square()).matrix();
  }

  const CoupledChain& chain_;
  RandomBits& bits_;
  Matrix network_, surrogate_;
  Row network_error_, surrogate_error_;
};

}  // namespace

Vector draw_costs(const CoupledChain& chain, const DrawPlan& plan, int threads, const CancelFlag* cancel) {
  Vector costs(plan.draws);
  const Index blocks = (plan.draws + kBlockDraws - 1) / kBlockDraws;
  parallel_for(
      blocks, threads,
      [&](Index block) {
        RandomBits bits(plan.seed, plan.use, plan.input, static_cast<std::uint64_t>(block));
        const Index first = block * kBlockDraws, count = std::min(kBlockDraws, plan.draws - first);
        costs.segment(first, count) = Paths(chain, count, bits).costs();
      },
      cancel);
  require(costs.allFinite(), "simulation: a draw is not finite; numbers of the network are too large");
  return costs;
}

}  // namespace mixcert
