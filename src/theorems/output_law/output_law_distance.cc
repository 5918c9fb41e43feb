// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The output in units of its deviation, and what rounding those units changes: docs/theory/stein.md (Y.8).
#include "theorems/output_law/output_law_distance.h"

#include <cmath>

#include "methods/moment/moment_error.h"
#include "theorems/output_law/distribution.h"

namespace mixcert {
namespace {

bool has_output_law(const DenseLayer& layer, const Gaussian& piece, const SurrogateLaw& law) {
  return layer.outputs() == 1 && layer.has_independent_outputs() && piece.covariance.is_diagonal() &&
         !law.is_masked();
}

/// |bias + sum_j M_j mu_j - mean of the pushed Gaussian|, rounded up.
double mean_shift(const DenseLayer& layer, const SurrogateLaw& law, double mean) {
  const Index n = layer.inputs();
  const double bias = layer.bias_mean()(0);
  const double sum = layer.weight_mean().row(0).dot(law.mean) + bias;
  const double sizes = layer.weight_mean().row(0).cwiseAbs().dot(law.mean.cwiseAbs()) + std::abs(bias);
  return enlarged(std::abs(sum - mean) + rounding_gamma(n + 8) * sizes);
}

}  // namespace

UpperBound output_law_distance(const ActivationMap& activation, const DenseLayer& layer,
                               const Gaussian& piece, const SurrogateLaw& law, const Gaussian& pushed) {
  if (!has_output_law(layer, piece, law)) return {INFINITY, INFINITY};
  const double sigma = std::sqrt(pushed.covariance.variances()(0));
  if (!(sigma > 0.0) || !std::isfinite(sigma)) return {INFINITY, INFINITY};
  const Vector variances = layer.weight_variances().row(0).transpose();
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  const double bias_variance = layer.bias_variances()(0);
  OutputLaw line;
  line.bias_variance = bias_variance / sigma / sigma;
  // Of the units: weights, bias and the Gaussian's own deviation.
  double rounding = 4.0 * kUnitRoundoff * (std::sqrt(bias_variance) + sigma);
  const double moved = rounding_gamma(piece.covariance.rank() + 4) * activation.lipschitz().upper;
  line.neurons.reserve(static_cast<std::size_t>(layer.inputs()));
  for (Index j = 0; j < layer.inputs(); ++j) {
    const double weight = layer.weight_mean()(0, j);
    const double noise = std::sqrt(variances(j));
    SummandNeuron neuron{&activation.at(j), piece.mean(j), deviations(j), law.mean(j), law.error(j)};
    neuron.weight = weight / sigma;
    neuron.noise = noise / sigma;
    neuron.second = law.second(j);
    neuron.second_error = law.second_error(j);
    line.neurons.push_back(neuron);
    const double size = std::sqrt(law.second(j) + law.second_error(j)) + std::abs(law.mean(j));
    rounding += (std::abs(weight) + noise) * (4.0 * kUnitRoundoff * size + moved * deviations(j));
  }
  const UpperBound standard = distance_to_normal(line);
  const double added = rounding + mean_shift(layer, law, pushed.mean(0));
  return {sigma * standard.nominal, enlarged(sigma * standard.upper + added)};
}

}  // namespace mixcert
