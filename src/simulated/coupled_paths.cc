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
    for (std::size_t k = 0; k + 1 < chain_.steps.size(); ++k) {
      const CoupledStep& step = chain_.steps[k];
      const Matrix g = standard_normals(bits_, step.next->outputs(), surrogate_.cols());
      advance_chain(step, g);
      network_.advance(step, g);
    }
    return last_costs(chain_.last());
  }

 private:
  /// mean + gain (zh - center), and the norms that its rounding is measured by.
  Matrix chain_activations(const CoupledStep& step, DrawRow& sizes) const {
    Matrix b = surrogate_;
    b.array().colwise() *= step.gain.array();
    sizes = step.mean.norm() + step.gain.cwiseProduct(step.center).norm() + column_norms(b);
    b.colwise() += step.mean - step.gain.cwiseProduct(step.center);
    return b;
  }

  void advance_chain(const CoupledStep& step, const Matrix& g) {
    const DenseLayer& next = *step.next;
    const double gamma = rounding_gamma(next.inputs() + 16);
    DrawRow sizes;
    const Matrix b = chain_activations(step, sizes);
    const Matrix noise = step.noise.asDiagonal() * g;
    surrogate_error_ =
        enlarged(step.gained_size * surrogate_error_ + kNormalError * step.noise.norm() + kUnderflow +
                 gamma * (step.weight_size * sizes + next.bias_mean().norm() + column_norms(noise)));
    surrogate_ = next.weight_mean() * b + noise;
    surrogate_.colwise() += next.bias_mean();
  }

  [[nodiscard]] Vector last_costs(const CoupledStep& step) const {
    const DenseLayer& next = *step.next;
    const double gamma = rounding_gamma(next.inputs() + 2 * next.outputs() + 16);
    const NetworkPaths::Activations a = network_.activations(step);
    DrawRow sizes;
    const Matrix b = chain_activations(step, sizes);
    const DrawRow signal = (next.weight_mean() * (a.values - b)).colwise().squaredNorm().transpose().array();
    const DrawRow noise = (a.deviations.colwise() - step.noise).colwise().squaredNorm().transpose().array();
    const double answer = std::sqrt(step.variances.colwise().sum().maxCoeff());
    const DrawRow error = (step.weight_norm + answer) * a.error + step.gained_size * surrogate_error_ +
                          gamma * (step.weight_size * (column_norms(a.values) + sizes) +
                                   column_norms(a.deviations) + step.noise.norm());
    const DrawRow cost = (1.0 + gamma) * (signal + noise).sqrt() + enlarged(enlarged(error)) + kUnderflow;
    return enlarged(cost.square()).matrix();
  }

  const CoupledChain& chain_;
  RandomBits& bits_;
  NetworkPaths network_;
  Matrix surrogate_;
  DrawRow surrogate_error_;
};

}  // namespace

Vector draw_costs(const CoupledChain& chain, const DrawPlan& plan, int threads, const CancelFlag* cancel) {
  Vector costs(plan.draws);
  for_each_block(plan, threads, cancel, [&](Index first, Index count, RandomBits& bits) {
    costs.segment(first, count) = CoupledPaths(chain, count, bits).costs();
  });
  require(costs.allFinite(), "simulation: a draw is not finite; numbers of the network are too large");
  return costs;
}

}  // namespace mixcert
