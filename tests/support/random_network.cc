// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers and networks. Arguments are drawn in the order in which they are written here: seeds depend on it.
#include "support/random_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mixcert::testing {

const std::vector<WeightFamily>& all_weight_families() {
  static const std::vector<WeightFamily> all = {
      WeightFamily::Deterministic, WeightFamily::MeanField,
      WeightFamily::Kronecker,     WeightFamily::KroneckerEigenbasis,
      WeightFamily::LowRank,       WeightFamily::Full,
      WeightFamily::Joint};
  return all;
}

const std::vector<BiasFamily>& all_bias_families() {
  static const std::vector<BiasFamily> all = {BiasFamily::Deterministic, BiasFamily::Independent,
                                              BiasFamily::Correlated};
  return all;
}

std::string to_string(WeightFamily family) {
  static const std::vector<std::string> names = {
      "Deterministic", "MeanField", "Kronecker", "Eigenbasis", "LowRank", "Full", "Joint", "LowRankWithBias"};
  return names[static_cast<std::size_t>(family)];
}

std::string to_string(BiasFamily family) {
  static const std::vector<std::string> names = {"FixedBias", "IndependentBias", "CorrelatedBias"};
  return names[static_cast<std::size_t>(family)];
}

Matrix random_variances(Generator& generator, Index rows, Index cols, double deviation) {
  return Matrix::NullaryExpr(rows, cols, [&] {
    const double x = uniform(generator);
    return x < 0.2 ? 0.0 : 2.0 * deviation * deviation * x;
  });
}

Matrix random_singular_covariance(Generator& generator, Index size, double deviation) {
  const Index rank = std::max<Index>(1, size - 1);
  const Matrix factor =
      deviation / std::sqrt(static_cast<double>(rank)) * random_matrix(generator, size, rank);
  return factor * factor.transpose();
}

WeightCovariance random_weight_law(Generator& generator, WeightFamily family, Index inputs, Index outputs,
                                   double deviation) {
  const auto variances = [&] { return random_variances(generator, outputs, inputs, deviation); };
  const auto basis = [&](Index size) {
    return Matrix(random_matrix(generator, size, size) / std::sqrt(static_cast<double>(size)));
  };
  switch (family) {
    case WeightFamily::Deterministic:
      return DeterministicWeights{};
    case WeightFamily::MeanField:
      return MeanFieldWeights{variances()};
    case WeightFamily::Kronecker: {
      Matrix rows = random_singular_covariance(generator, outputs, 1.0);
      return KroneckerWeights{std::move(rows), random_singular_covariance(generator, inputs, deviation)};
    }
    case WeightFamily::KroneckerEigenbasis: {
      Matrix rows = basis(outputs);
      Matrix columns = basis(inputs);
      return KroneckerEigenbasisWeights{std::move(rows), std::move(columns), variances()};
    }
    case WeightFamily::LowRank: {
      LowRankWeights law{variances(), {}};
      for (int s = 0; s < 2; ++s) {
        law.factor.emplace_back(0.5 * deviation * random_matrix(generator, outputs, inputs));
      }
      return law;
    }
    case WeightFamily::LowRankWithBias: {
      auto law = std::get<LowRankWeights>(
          random_weight_law(generator, WeightFamily::LowRank, inputs, outputs, deviation));
      law.bias_factor = 0.5 * deviation * random_matrix(generator, outputs, 2);
      return law;
    }
    case WeightFamily::Full:
      return FullWeights{random_singular_covariance(generator, outputs * inputs, deviation)};
    case WeightFamily::Joint:
      return JointWeights{random_singular_covariance(generator, outputs * (inputs + 1), deviation)};
  }
  return DeterministicWeights{};
}

BiasCovariance random_bias_law(Generator& generator, BiasFamily family, Index outputs, double deviation) {
  switch (family) {
    case BiasFamily::Deterministic:
      return DeterministicBias{};
    case BiasFamily::Independent:
      return IndependentBias{random_variances(generator, outputs, 1, deviation)};
    case BiasFamily::Correlated:
      return CorrelatedBias{random_singular_covariance(generator, outputs, deviation)};
  }
  return DeterministicBias{};
}

DenseLayer random_layer(Generator& generator, const LayerRecipe& recipe, const std::string& name) {
  const double root = std::sqrt(static_cast<double>(recipe.inputs));
  Matrix mean = recipe.mean_scale / root * random_matrix(generator, recipe.outputs, recipe.inputs);
  Vector bias_mean = 0.5 * random_matrix(generator, recipe.outputs, 1);
  WeightCovariance weights =
      random_weight_law(generator, recipe.weights, recipe.inputs, recipe.outputs, recipe.deviation / root);
  const BiasFamily family = recipe.weights == WeightFamily::Joint ? BiasFamily::Deterministic : recipe.bias;
  BiasCovariance bias = random_bias_law(generator, family, recipe.outputs, recipe.deviation);
  return {name, std::move(mean), std::move(bias_mean), std::move(weights), std::move(bias)};
}

Network random_network(const NetworkRecipe& recipe) {
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (std::size_t k = 0; k + 1 < recipe.widths.size(); ++k) {
    Generator generator = make_generator(recipe.seed, Stream::Example, k);
    const LayerRecipe layer{recipe.weights,       recipe.bias,       recipe.widths[k],
                            recipe.widths[k + 1], recipe.mean_scale, recipe.deviation};
    layers.push_back(random_layer(generator, layer, std::to_string(k)));
    activations.emplace_back(Activation(k == 0 ? ActivationFunction::Identity : recipe.activation, 0.1));
  }
  return {std::move(layers), std::move(activations)};
}

}  // namespace mixcert::testing
