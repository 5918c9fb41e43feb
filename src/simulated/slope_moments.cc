// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The recursions of (F.6). All numbers are nonnegative and every sum is enlarged, so that rounding only adds.
#include "simulated/slope_moments.h"

#include <algorithm>
#include <cmath>

#include "activation/activation_traits.h"

namespace mixcert {
namespace {

/// sup |s| over the layer; infinite where it is not bounded.
double largest_value(const ActivationMap& activation) {
  const Smooth* smooth = activation.common().traits().smooth();
  return activation.is_uniform() && smooth != nullptr ? smooth->limits.get().largest() : INFINITY;
}

}  // namespace

SlopeMoments::SlopeMoments(const CoupledChain& chain)
    : chain_(chain),
      first_sum_(enlarged(chain.first_variance.sum())),
      first_largest_(chain.first_variance.maxCoeff()) {
  Vector path = chain.first_mean;
  for (const CoupledStep& step : chain.steps) {
    const DenseLayer& next = *step.next;
    const Matrix& variances = step.variances;
    Layer layer;
    layer.activations = step.activation->apply(path);
    layer.column_sums = variances.colwise().sum().transpose();
    layer.column_largest = variances.colwise().maxCoeff().transpose();
    layer.largest_variance = variances.maxCoeff();
    layer.row_sum = step.largest_variances.sum();
    layer.row_largest = step.largest_variances.maxCoeff();
    layer.bias_sum = next.bias_variances().sum();
    layer.bias_largest = next.bias_variances().maxCoeff();
    const Vector squares = layer.activations.cwiseAbs2();
    layer.value_error = enlarged(std::sqrt(static_cast<double>(path.size())) *
                                 step.activation->value_error(path.cwiseAbs().maxCoeff()));
    layer.path_deviation = enlarged(std::sqrt((variances * squares + next.bias_variances()).maxCoeff()) +
                                    std::sqrt(layer.largest_variance) * layer.value_error);
    const double bound = largest_value(*step.activation);
    if (std::isfinite(bound)) {
      const Vector most = bound * bound * variances.rowwise().sum() + next.bias_variances();
      layer.bounded_deviation = enlarged(std::sqrt(most.maxCoeff()));
    }
    // The path is one of numbers: what separates it from itself, exactly computed, counts as noise.
    const double gamma = rounding_gamma(next.inputs() + 16);
    layer.path_error = enlarged(step.weight_size * (layer.value_error + gamma * layer.activations.norm()) +
                                gamma * next.bias_mean().norm());
    path = next.weight_mean() * layer.activations + next.bias_mean();
    layers_.push_back(std::move(layer));
  }
}

Vector SlopeMoments::deviations(double q) const {
  const Index depth = chain_.depth();
  const LayerRuns& runs = chain_.runs;
  Vector phi(depth);
  phi(0) = enlarged(std::sqrt(first_sum_ + (q - 2.0) * first_largest_));
  for (Index k = 2; k <= depth; ++k) {
    double sum = runs.run(k - 1, 1) * phi(0);
    for (Index j = 1; j < k; ++j) {
      const Layer& own = layer(j);
      const Vector columns = own.column_sums + (q - 2.0) * own.column_largest;
      const double noise =
          own.bias_sum + (q - 2.0) * own.bias_largest + columns.dot(own.activations.cwiseAbs2());
      const double spread =
          std::sqrt(columns.maxCoeff()) * (runs.slopes(j).largest * phi(j - 1) + own.value_error);
      sum += runs.run(k - 1, j + 1) * (std::sqrt(noise) + own.path_error + spread);
    }
    phi(k - 1) = enlarged(sum);
  }
  return phi;
}

double SlopeMoments::source(Index k, const Vector& deviations) const {
  if (k == 1) return std::sqrt(first_largest_);
  const Layer& before = layer(k - 1);
  const double spread =
      std::sqrt(before.largest_variance) * chain_.runs.slopes(k - 1).largest * deviations(k - 2);
  return std::min(before.path_deviation + spread, before.bounded_deviation);
}

double SlopeMoments::over_sources(double q, Index last, double last_noise) const {
  const Index depth = chain_.depth();
  const LayerRuns& runs = chain_.runs;
  const Vector phi = deviations(q);
  // How a source at z_k reaches the output: p_{depth+1} = 1.
  Vector reach = Vector::Zero(depth + 2);
  reach(depth + 1) = 1.0;
  double squares = last > depth ? std::pow(source(depth + 1, phi), 2) : 0.0;
  for (Index k = depth; k >= 1; --k) {
    double sum = runs.run(depth, k);
    for (Index j = k; j <= depth; ++j) {
      const Layer& own = layer(j);
      const double noise = j == depth ? last_noise : own.row_sum + (q - 2.0) * own.row_largest;
      sum += reach(j + 1) * std::sqrt(noise) * runs.slopes(j).largest * runs.run(j - 1, k);
    }
    reach(k) = enlarged(sum);
    squares += std::pow(reach(k) * source(k, phi), 2);
  }
  return enlarged(std::sqrt(enlarged(squares)));
}

double SlopeMoments::of_network(double q) const {
  return over_sources(q, chain_.depth(), layer(chain_.depth()).column_sums.maxCoeff());
}

double SlopeMoments::of_output(double q) const {
  const Layer& last = layer(chain_.depth());
  return over_sources(q, chain_.depth() + 1, last.row_sum + (q - 2.0) * last.row_largest);
}

SlopeTail::SlopeTail(const std::function<double(double)>& norm) {
  for (std::size_t i = 0; i < kExponents.size(); ++i) norms_[i] = norm(kExponents[i]);
}

double SlopeTail::square_beyond(double probability) const {
  if (!(probability < 1.0)) return INFINITY;
  const double log_inverse = -std::log(probability) * (1.0 - 1e-12);
  double least = INFINITY;
  for (std::size_t i = 0; i < kExponents.size(); ++i) {
    const double power = std::exp(-(1.0 - 2.0 / kExponents[i]) * log_inverse);
    least = std::min(least, 2.0 / log_inverse * power * norms_[i] * norms_[i]);
  }
  return enlarged(least);
}

}  // namespace mixcert
