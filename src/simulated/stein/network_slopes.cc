// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/stein/network_slopes.h"

#include <vector>

namespace mixcert {
namespace {

/// What the way back needs of hidden layer k.
struct Passed {
  Vector deviations;   ///< S_{k-1}^{1/2}, by which its own normals enter
  Vector activations;  ///< a_k
  Vector slopes;       ///< s'(z_k)
  /// g_{k+1} / S_k^{1/2}: how the next layer's noise answers to its variance; zero where that has none.
  Vector answer;
};

Vector slopes_of_layer(const ActivationMap& activation, const Vector& z) {
  Vector slopes(z.size());
  for (Index j = 0; j < z.size(); ++j) slopes(j) = activation.at(j).derivative(z(j));
  return slopes;
}

}  // namespace

NetworkSlopes slopes_at(const CoupledChain& chain, const Vector& normals) {
  NetworkSlopes made;
  std::vector<Passed> passed;
  Index used = chain.first_mean.size();
  Vector deviations = chain.first_variance.cwiseSqrt();
  Vector z = chain.first_mean + deviations.cwiseProduct(normals.head(used));
  for (const CoupledStep& step : chain.steps) {
    const DenseLayer& next = *step.next;
    Passed own{deviations, step.activation->apply(z), slopes_of_layer(*step.activation, z), {}};
    const Vector mean = next.weight_mean() * own.activations + next.bias_mean();
    const Vector variances = step.variances * own.activations.cwiseAbs2() + next.bias_variances();
    if (&step == &chain.last()) {
      made.mean = mean;
      made.variances = variances;
    } else {
      const auto g = normals.segment(used, next.outputs());
      used += next.outputs();
      deviations = variances.cwiseSqrt();
      own.answer = (deviations.array() > 0.0).select(g.cwiseQuotient(deviations), 0.0);
      z = mean + deviations.cwiseProduct(g);
    }
    passed.push_back(std::move(own));
  }
  // Rows: slopes of the means, then of the variances, in z_k.
  const Index outputs = made.mean.size();
  Matrix slopes(2 * outputs, used);
  Matrix back(2 * outputs, chain.last().next->inputs());
  const CoupledStep& last = chain.last();
  back << last.next->weight_mean(), 2.0 * last.variances * passed.back().activations.asDiagonal();
  Index end = used;
  for (std::size_t k = passed.size(); k-- > 0;) {
    const Passed& own = passed[k];
    if (k + 1 < passed.size()) {
      const CoupledStep& step = chain.steps[k];
      const Matrix noise = (back * own.answer.asDiagonal()) * step.variances;
      back = (back * step.next->weight_mean() + noise * own.activations.asDiagonal()).eval();
    }
    back = back * own.slopes.asDiagonal();
    end -= own.deviations.size();
    slopes.middleCols(end, own.deviations.size()) = back * own.deviations.asDiagonal();
  }
  made.mean_slopes = slopes.topRows(outputs);
  made.variance_slopes = slopes.bottomRows(outputs);
  return made;
}

}  // namespace mixcert
