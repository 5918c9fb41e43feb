// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/network.md (N.6), (N.7). A chain instead of the product of its Jacobians: its law is then
// computed and its rounding charged by what certifies every other network.
#include "network/linearised_network.h"

#include <string>
#include <utility>
#include <variant>

#include "mixcert/core/error.h"

namespace mixcert {
namespace {

Vector slopes(const ActivationMap& activation, const Vector& arguments) {
  Vector result(arguments.size());
  for (Index j = 0; j < arguments.size(); ++j) result(j) = activation.at(j).derivative(arguments(j));
  return result;
}

/// The layer without the factor that it has in common with others.
DenseLayer without_common(const DenseLayer& layer) {
  if (common_factor_count(layer.weights()) == 0) return layer;
  const auto& law = std::get<LowRankWeights>(layer.weights());
  return {layer.name(), layer.weight_mean(), layer.bias_mean(), MeanFieldWeights{law.variance}, layer.bias()};
}

/// F_s a + f_s, a column for each normal in common.
Matrix common_columns(const DenseLayer& layer, const Vector& activations, Index count) {
  Matrix columns = Matrix::Zero(layer.outputs(), count);
  if (common_factor_count(layer.weights()) == 0) return columns;
  const auto& law = std::get<LowRankWeights>(layer.weights());
  if (law.bias_factor.size() > 0) columns = law.bias_factor;
  for (Index s = 0; s < count; ++s) columns.col(s) += law.factor[static_cast<std::size_t>(s)] * activations;
  return columns;
}

/// The covariance of (W - M) a + b - E b at fixed activations.
Covariance noise_at(const DenseLayer& layer, const Vector& activations) {
  return std::move(layer.push(activations, 1).covariances.front());
}

BiasCovariance bias_of(const Covariance& noise) {
  if (noise.is_diagonal()) return IndependentBias{noise.variances()};
  return CorrelatedBias{noise.to_dense()};
}

void require_linearisable(const Network& network) {
  require(network.is_gaussian(),
          "option --predictive: glm needs Gaussian weights and biases, the network has others");
  require(!network.has_masks(),
          "option --predictive: glm linearises in the weights; the network has dropout, which is no weight");
}

}  // namespace

Network linearised_network(const Network& network, ConstVectorRef input) {
  require_linearisable(network);
  const Index count = network.common_factor_count();
  const auto own = [&](Index k) { return count > 0 ? without_common(network.layer(k)) : network.layer(k); };
  Vector activations = network.activation(0).apply(network.features(input).values);
  std::vector<DenseLayer> layers = {own(0)};
  std::vector<ActivationMap> between = {network.activation(0)};
  Vector arguments = layers[0].weight_mean() * activations + layers[0].bias_mean();
  Matrix common = common_columns(network.layer(0), activations, count);
  for (Index k = 1; k < network.layer_count(); ++k) {
    const DenseLayer layer = own(k);
    const Vector slope = slopes(network.activation(k), arguments);
    activations = network.activation(k).apply(arguments);
    const Matrix weights = layer.weight_mean() * slope.asDiagonal();
    const Vector at_zero = activations - slope.cwiseProduct(arguments);
    common = weights * common + common_columns(network.layer(k), activations, count);
    Covariance noise = noise_at(layer, activations);
    // What the normals in common do to the output is independent of everything else.
    const bool is_last = k == network.hidden_count();
    if (is_last && count > 0) noise = Covariance::dense(noise.to_dense() + common * common.transpose());
    layers.emplace_back(layer.name(), weights, layer.weight_mean() * at_zero + layer.bias_mean(),
                        DeterministicWeights{}, bias_of(noise));
    between.emplace_back();
    arguments = layer.weight_mean() * activations + layer.bias_mean();
  }
  return {std::move(layers), std::move(between), {}, network.shared_front(), network.has_own_noise()};
}

}  // namespace mixcert
