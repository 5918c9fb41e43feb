// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Both paths of a block of draws, a column each, and beside them how far either may be off.
#include "simulated/coupled_paths.h"

#include <cmath>

#include "mixcert/core/error.h"

namespace mixcert {
namespace {

class CoupledPaths {
 public:
  CoupledPaths(const CoupledChain& chain, Index draws, RandomBits& bits)
      : chain_(chain),
        bits_(bits),
        network_(chain, standard_normals(bits, chain.first_mean.size(), draws)),
        surrogate_(network_.values()),
        surrogate_error_(network_.error()) {}

  /// F^2 from above, behind the last hidden layer.
  Vector costs() {
    advance_to_last();
    return last_costs(chain_.last());
  }

  /// A column per draw of both sides.
  void outputs(Index first, CoupledOutputs& all) {
    advance_to_last();
    const CoupledStep& step = chain_.last();
    const NetworkPaths::Activations a = network_.activations(step);
    DrawRow sizes;
    const Index count = surrogate_.cols();
    all.network.middleCols(first, count) =
        (step.next->weight_mean() * a.values).colwise() + step.next->bias_mean();
    all.variances.middleCols(first, count) = a.deviations.cwiseAbs2();
    all.chain.middleCols(first, count) =
        (chain_.head.weights * chain_activations(step, sizes)).colwise() + chain_.head.bias;
  }

 private:
  void advance_to_last() {
    for (std::size_t k = 0; k + 1 < chain_.steps.size(); ++k) {
      const CoupledStep& step = chain_.steps[k];
      const Matrix g = standard_normals(bits_, step.next->outputs(), surrogate_.cols());
      advance_chain(step, g);
      network_.advance(step, g);
    }
  }

  /// mean + gain (zh - center), and the norms that its rounding is measured by.
  Matrix chain_activations(const CoupledStep& step, DrawRow& sizes) const {
    Matrix b(surrogate_.rows(), surrogate_.cols());
    sizes.resize(surrogate_.cols());
    const Vector constant = step.mean - step.gain.cwiseProduct(step.center);
    for (Index i = 0; i < surrogate_.cols(); ++i) {
      const auto gained = step.gain.cwiseProduct(surrogate_.col(i));
      b.col(i) = gained + constant;
      sizes(i) = gained.norm();
    }
    sizes += step.mean.norm() + step.gain.cwiseProduct(step.center).norm();
    return b;
  }

  void advance_chain(const CoupledStep& step, const Matrix& g) {
    const DenseLayer& next = *step.next;
    const double gamma = rounding_gamma(next.inputs() + 16);
    DrawRow sizes, noise(g.cols());
    const Matrix b = chain_activations(step, sizes);
    Matrix sums(next.outputs(), g.cols());
    for (Index i = 0; i < g.cols(); ++i) {
      const auto own = step.noise.cwiseProduct(g.col(i));
      sums.col(i) = own + next.bias_mean();
      noise(i) = own.norm();
    }
    surrogate_error_ =
        enlarged(step.gained_size * surrogate_error_ + kNormalError * step.noise.norm() + kUnderflow +
                 gamma * (step.weight_size * sizes + next.bias_mean().norm() + noise));
    sums.noalias() += next.weight_mean() * b;
    surrogate_.swap(sums);
  }

  [[nodiscard]] Vector last_costs(const CoupledStep& step) const {
    const DenseLayer& next = *step.next;
    const double gamma = rounding_gamma(next.inputs() + 2 * next.outputs() + 16);
    const NetworkPaths::Activations a = network_.activations(step);
    DrawRow sizes;
    const Matrix b = chain_activations(step, sizes);
    const ChainHead& head = chain_.head;
    const Vector bias = next.bias_mean() - head.bias;
    const Matrix signal = (next.weight_mean() * a.values - head.weights * b).colwise() + bias;
    const DrawRow squares =
        (signal.colwise().squaredNorm() + (a.deviations.colwise() - head.noise).colwise().squaredNorm())
            .transpose()
            .array();
    const double answer = std::sqrt(step.variances.colwise().sum().maxCoeff());
    const DrawRow error =
        (step.weight_norm + answer) * a.error + head.gained_size * surrogate_error_ +
        gamma * (step.weight_size * column_norms(a.values) + head.size * sizes + next.bias_mean().norm() +
                 head.bias.norm() + column_norms(a.deviations) + head.noise.norm());
    const DrawRow cost = (1.0 + gamma) * squares.sqrt() + enlarged(enlarged(error)) + kUnderflow;
    return enlarged(cost.square()).matrix();
  }

  const CoupledChain& chain_;
  RandomBits& bits_;
  NetworkPaths network_;
  Matrix surrogate_;
  DrawRow surrogate_error_;
};

}  // namespace

CoupledOutputs draw_coupled_outputs(const CoupledChain& chain, const DrawPlan& plan, int threads,
                                    const CancelFlag* cancel) {
  const Index outputs = chain.head.bias.size();
  CoupledOutputs all{Matrix(outputs, plan.draws), Matrix(outputs, plan.draws), Matrix(outputs, plan.draws)};
  for_each_block(plan, threads, cancel, [&](Index first, Index count, RandomBits& bits) {
    CoupledPaths(chain, count, bits).outputs(first, all);
  });
  return all;
}

Vector draw_costs(const CoupledChain& chain, const DrawPlan& plan, int threads, const CancelFlag* cancel) {
  Vector costs(plan.draws);
  for_each_block(plan, threads, cancel, [&](Index first, Index count, RandomBits& bits) {
    costs.segment(first, count) = CoupledPaths(chain, count, bits).costs();
  });
  require(costs.allFinite(), "simulation: a draw is not finite; numbers of the network are too large");
  return costs;
}

}  // namespace mixcert
