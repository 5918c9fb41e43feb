// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Rounding terms. Coarse on purpose: they are some 1e-7 of a standard deviation, and a bound
// that is simple to prove is worth more here than a digit.
#include "certificate/rounding_terms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "certificate/replaced_weights.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

namespace {

bool has_diagonal_output(const DenseLayer& layer, Index input_count) {
  return input_count == 1 && layer.has_independent_outputs();
}

}  // namespace

PushRounding::PushRounding(const DenseLayer& layer, double norm, Index input_count)
    : diagonal_(has_diagonal_output(layer, input_count)) {
  const double d = static_cast<double>(input_count);
  const double gamma = rounding_gamma(layer.inputs() + 4);
  mean_error_squares_ =
      (gamma * (norm * layer.row_norms() + std::sqrt(d) * layer.bias_mean().cwiseAbs())).cwiseAbs2();
  variances_ = norm * norm * layer.row_variances() + d * layer.bias_variances();
  const double dimension = static_cast<double>(layer.outputs() * input_count);
  const double operations =
      rounding_gamma(4 * layer.inputs() + 2 * layer.outputs() + factor_count(layer.weights()) + 32);
  factor_ = diagonal_ ? rounding_gamma(layer.inputs() + 8) : std::sqrt(std::sqrt(dimension) * operations);
}

double PushRounding::in(ConstVectorRef metric) const {
  const double means = std::sqrt(metric.dot(mean_error_squares_));
  return enlarged(means + factor_ * std::sqrt(metric.dot(variances_)));
}

Index covariance_operations(const DenseLayer& layer) {
  return 4 * layer.inputs() + 2 * layer.outputs() + 2 * factor_count(layer.weights()) + 32;
}

namespace {

/// Squared norms of the rows of W, expected.
Vector row_second_moments(const DenseLayer& layer) {
  return layer.row_norms().cwiseAbs2() + layer.row_variances();
}

}  // namespace

UpperBound first_layer_error(const Network& network, const Sensitivity& sensitivity, const MetricChain& chain,
                             const FirstLayerTrace& first, Index input_count) {
  const DenseLayer& layer = network.layer(0);
  Vector metric = Vector::Ones(layer.outputs());
  if (network.hidden_count() > 0) {
    const double l = sensitivity.lipschitz[0].upper;
    metric = l * l * chain.inflation[0] * chain.activation_weights[0];
  }
  // Features and an activation in front of the first layer are evaluated once per input: their rounding
  // counts too.
  const ActivationMap& activation = network.activation(0);
  const double error = activation.lipschitz().upper * first.error +
                       activation.value_error(first.norm + first.error) *
                           std::sqrt(static_cast<double>(network.feature_count() * input_count));
  const double pushed = PushRounding(layer, first.norm + error, input_count).in(metric);
  const double shifted = error * std::sqrt(metric.dot(row_second_moments(layer)));
  const double raised = first.raise.size() > 0 ? std::sqrt(metric.dot(first.raise)) : 0.0;
  UpperBound replaced;
  if (!layer.is_gaussian()) {
    const Vector errors = replaced_weight_errors(layer, first.squares, input_count);
    replaced = sqrt(UpperBound::of_sum(metric.dot(errors), 2 * metric.size() + 8));
  }
  const double underflow = sensitivity.underflow * std::sqrt(static_cast<double>(input_count));
  return replaced + UpperBound{0.0, enlarged(pushed + shifted + raised + underflow)};
}

UpperBound first_layer_error(const Network& network, const Sensitivity& sensitivity,
                             const FirstLayerTrace& first, Index input_count) {
  const double infinity = std::numeric_limits<double>::infinity();
  UpperBound least{infinity, infinity};
  for (const MetricChain& chain : sensitivity.metrics) {
    least = min(least, first_layer_error(network, sensitivity, chain, first, input_count));
  }
  return least;
}

// docs/theory/rounding.md (R.8).

double settle_covariances(GaussianMixture& mixture) {
  const auto has_factor = [](const Gaussian& g) { return g.covariance.rank() > 0; };
  const std::vector<Gaussian>& old = mixture.components();
  if (std::none_of(old.begin(), old.end(), has_factor)) return 0.0;
  const auto n = static_cast<double>(mixture.dimension());
  std::vector<Gaussian> settled;
  double moved = 0.0;
  for (Index i = 0; i < mixture.size(); ++i) {
    const Gaussian& g = mixture.component(i);
    if (!has_factor(g)) {
      settled.push_back(g);
      continue;
    }
    const double gamma = rounding_gamma(g.covariance.rank() + 4);
    Matrix dense = g.covariance.to_dense();
    dense.diagonal() *= 1.0 + 2.0 * n * gamma;
    moved += mixture.weights()(i) * 4.0 * n * gamma * dense.trace();
    settled.push_back({g.mean, Covariance::dense(std::move(dense))});
  }
  mixture = GaussianMixture(mixture.weights(), std::move(settled));
  return enlarged(std::sqrt(moved));
}

}  // namespace mixcert
