// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives along a direction by central differences with one step of Richardson extrapolation, and
// networks whose parameters are moved along a direction.
#pragma once

#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include "mixcert/gradient/objective.h"
#include "support/random_laws.h"

namespace mixcert::testing {

/// f'(0), the error being of fourth order in the step.
inline double difference(const std::function<double(double)>& f, double step) {
  return (8.0 * (f(step) - f(-step)) - (f(2.0 * step) - f(-2.0 * step))) / (12.0 * step);
}

/// A direction in parameter space: variances move by a fraction of themselves, so that they stay nonnegative
/// and zeros stay zeros.
inline NetworkGradient random_direction(Generator& generator, const Network& network) {
  NetworkGradient direction = zero_gradient(network);
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    LayerGradient& d = direction[static_cast<std::size_t>(k)];
    d.weight_mean = 0.3 * random_matrix(generator, layer.outputs(), layer.inputs());
    d.bias_mean = 0.3 * random_matrix(generator, layer.outputs(), 1);
    if (const auto* law = std::get_if<MeanFieldWeights>(&layer.weights())) {
      d.weight_variance =
          law->variance.cwiseProduct(0.3 * random_matrix(generator, layer.outputs(), layer.inputs()));
    }
    d.bias_variance = layer.bias_variances().cwiseProduct(0.3 * random_matrix(generator, layer.outputs(), 1));
  }
  return direction;
}

inline Network moved(const Network& network, const NetworkGradient& direction, double t) {
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    const LayerGradient& d = direction[static_cast<std::size_t>(k)];
    WeightCovariance weights = layer.weights();
    BiasCovariance bias = layer.bias();
    if (auto* law = std::get_if<MeanFieldWeights>(&weights)) law->variance += t * d.weight_variance;
    if (auto* law = std::get_if<IndependentBias>(&bias)) law->variance += t * d.bias_variance;
    layers.emplace_back(layer.name(), layer.weight_mean() + t * d.weight_mean,
                        layer.bias_mean() + t * d.bias_mean, std::move(weights), std::move(bias));
    activations.push_back(network.activation(k));
  }
  return {std::move(layers), std::move(activations)};
}

inline double dot(const NetworkGradient& a, const NetworkGradient& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += a[k].weight_mean.cwiseProduct(b[k].weight_mean).sum() +
           a[k].weight_variance.cwiseProduct(b[k].weight_variance).sum() +
           a[k].bias_mean.dot(b[k].bias_mean) + a[k].bias_variance.dot(b[k].bias_variance);
  }
  return sum;
}

enum class Parameter { WeightMean, WeightVariance, BiasMean, BiasVariance };

inline const std::vector<Parameter>& all_parameters() {
  static const std::vector<Parameter> all = {Parameter::WeightMean, Parameter::WeightVariance,
                                             Parameter::BiasMean, Parameter::BiasVariance};
  return all;
}

/// The part of a gradient or direction that concerns one kind of parameter.
inline NetworkGradient only(Parameter parameter, NetworkGradient gradient) {
  for (LayerGradient& layer : gradient) {
    if (parameter != Parameter::WeightMean) layer.weight_mean.setZero();
    if (parameter != Parameter::WeightVariance) layer.weight_variance.setZero();
    if (parameter != Parameter::BiasMean) layer.bias_mean.setZero();
    if (parameter != Parameter::BiasVariance) layer.bias_variance.setZero();
  }
  return gradient;
}

}  // namespace mixcert::testing
