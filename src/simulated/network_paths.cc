// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/network_paths.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mixcert {
namespace {

constexpr Index kBlockDraws = 128;

}  // namespace

void for_each_block(const DrawPlan& plan, int threads, const CancelFlag* cancel,
                    const std::function<void(Index, Index, RandomBits&)>& work) {
  const Index blocks = (plan.draws + kBlockDraws - 1) / kBlockDraws;
  parallel_for(
      blocks, threads,
      [&](Index block) {
        RandomBits bits(plan.seed, plan.use, plan.input, static_cast<std::uint64_t>(block));
        const Index first = block * kBlockDraws;
        work(first, std::min(kBlockDraws, plan.draws - first), bits);
      },
      cancel);
}

DrawRow column_norms(const Matrix& matrix) { return matrix.colwise().norm().transpose().array(); }

Matrix standard_normals(RandomBits& bits, Index rows, Index draws) {
  Matrix numbers(rows, draws);
  fill_normals(bits, numbers);
  return numbers;
}

DrawRow activation_error(const ActivationMap& activation, double slope, const Matrix& z,
                         const DrawRow& error) {
  const double root = std::sqrt(static_cast<double>(z.rows()));
  DrawRow sum = slope * error;
  for (Index i = 0; i < z.cols(); ++i)
    sum(i) += root * activation.value_error(z.col(i).cwiseAbs().maxCoeff());
  return sum;
}

NetworkPaths::NetworkPaths(const CoupledChain& chain, Matrix normals) : values_(std::move(normals)) {
  const Vector deviations = chain.first_variance.cwiseSqrt();
  values_.array().colwise() *= deviations.array();
  error_ = kNormalError * deviations.norm() + kUnderflow +
           rounding_gamma(8) * (chain.first_mean.norm() + column_norms(values_));
  values_.colwise() += chain.first_mean;
}

NetworkPaths::Activations NetworkPaths::activations(const CoupledStep& step) const {
  Activations at{step.activation->apply(values_),
                 activation_error(*step.activation, step.slopes.largest, values_, error_),
                 {}};
  at.deviations = step.variances * at.values.cwiseAbs2();
  at.deviations = (at.deviations.colwise() + step.next->bias_variances()).cwiseSqrt();
  return at;
}

void NetworkPaths::advance(const CoupledStep& step, const Matrix& normals) {
  const DenseLayer& next = *step.next;
  const double gamma = rounding_gamma(next.inputs() + 16);
  const Activations at = activations(step);
  // b + S(a)^{1/2} g, to which M a is added. Draw by draw, so that each is read once.
  Matrix sums(next.outputs(), normals.cols());
  DrawRow noise(normals.cols()), answer(normals.cols());
  const Vector largest = step.largest_variances.cwiseSqrt();
  for (Index i = 0; i < normals.cols(); ++i) {
    const auto own = at.deviations.col(i).cwiseProduct(normals.col(i));
    sums.col(i) = own + next.bias_mean();
    noise(i) = own.norm();
    answer(i) = largest.cwiseProduct(normals.col(i)).norm();
  }
  // (sum_l max_j V_lj (|g_l| + dg)^2)^{1/2}: how the network's noise answers to its activations.
  answer += kNormalError * std::sqrt(step.largest_variances.sum());
  // The last factor is for what these few operations themselves round.
  error_ = enlarged((step.weight_norm + answer) * at.error + kNormalError * column_norms(at.deviations) +
                    kUnderflow +
                    gamma * (step.weight_size * column_norms(at.values) + next.bias_mean().norm() + noise));
  sums.noalias() += next.weight_mean() * at.values;
  values_.swap(sums);
}

}  // namespace mixcert
