// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The output in units of its deviation, and what rounding those units changes: docs/theory/stein.md (Y.8).
#include "certify/line_push.h"

#include <cmath>
#include <variant>

#include "certify/line_distance.h"
#include "certify/moment_error.h"

namespace mixcert {
namespace {

bool is_line(const DenseLayer& layer, const Gaussian& piece, const SurrogateLaw& law) {
  return layer.outputs() == 1 && has_independent_outputs(layer) && piece.covariance.is_diagonal() &&
         !law.is_masked();
}

/// Variances of the weights; empty: none.
Vector weight_variances(const DenseLayer& layer) {
  const auto* weights = std::get_if<MeanFieldWeights>(&layer.weights());
  return weights == nullptr ? Vector() : Vector(weights->variance.row(0).transpose());
}

/// |bias + sum_j M_j mu_j - mean of the pushed Gaussian|, rounded up.
double mean_shift(const DenseLayer& layer, const SurrogateLaw& law, double mean) {
  const Index n = layer.inputs();
  const double bias = layer.bias_mean()(0);
  const double sum = layer.weight_mean().row(0).dot(law.mean) + bias;
  const double sizes = layer.weight_mean().row(0).cwiseAbs().dot(law.mean.cwiseAbs()) + std::abs(bias);
  return (std::abs(sum - mean) + rounding_gamma(n + 8) * sizes) * kSafety;
}

}  // namespace

Upper line_push_distance(const ActivationMap& activation, const DenseLayer& layer, const Gaussian& piece,
                         const SurrogateLaw& law, const Gaussian& pushed) {
  if (!is_line(layer, piece, law)) return {INFINITY, INFINITY};
  const double sigma = std::sqrt(pushed.covariance.variances()(0));
  if (!(sigma > 0.0) || !std::isfinite(sigma)) return {INFINITY, INFINITY};
  const Vector variances = weight_variances(layer);
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  const double bias_variance = layer.bias_variances()(0);
  LineLaw line;
  line.bias_variance = bias_variance / sigma / sigma;
  // Of the units: weights, bias and the Gaussian's own deviation.
  double rounding = 4.0 * kUnitRoundoff * (std::sqrt(bias_variance) + sigma);
  const double moved = rounding_gamma(piece.covariance.rank() + 4) * activation.lipschitz().upper;
  line.neurons.reserve(static_cast<std::size_t>(layer.inputs()));
  for (Index j = 0; j < layer.inputs(); ++j) {
    const double weight = layer.weight_mean()(0, j);
    const double noise = variances.size() > 0 ? std::sqrt(variances(j)) : 0.0;
    LineNeuron neuron{&activation.at(j), piece.mean(j), deviations(j), law.mean(j), law.error(j)};
    neuron.weight = weight / sigma;
    neuron.noise = noise / sigma;
    neuron.second = law.second(j);
    neuron.second_error = law.second_error(j);
    line.neurons.push_back(neuron);
    const double size = std::sqrt(law.second(j) + law.second_error(j)) + std::abs(law.mean(j));
    rounding += (std::abs(weight) + noise) * (4.0 * kUnitRoundoff * size + moved * deviations(j));
  }
  const Upper standard = line_distance(line);
  const double added = rounding + mean_shift(layer, law, pushed.mean(0));
  return {sigma * standard.nominal, (sigma * standard.upper + added) * kSafety};
}

}  // namespace mixcert
