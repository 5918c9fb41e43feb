// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Seeded random layers and networks of every weight family, bias family and activation, for
// oracle and property tests. Covariances are singular on purpose (rank one below full where
// the size allows), variances contain zeros: degenerate laws are normal input.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/network/network.h"
#include "support/random_laws.h"

namespace mixcert::testing {

enum class WeightFamily { Deterministic, MeanField, Kronecker, KroneckerEigenbasis, LowRank, Full, Joint };
enum class BiasFamily { Deterministic, Independent, Correlated };

inline const std::vector<WeightFamily>& all_weight_families() {
  static const std::vector<WeightFamily> all = {
      WeightFamily::Deterministic, WeightFamily::MeanField,
      WeightFamily::Kronecker,     WeightFamily::KroneckerEigenbasis,
      WeightFamily::LowRank,       WeightFamily::Full,
      WeightFamily::Joint};
  return all;
}

inline const std::vector<BiasFamily>& all_bias_families() {
  static const std::vector<BiasFamily> all = {BiasFamily::Deterministic, BiasFamily::Independent,
                                              BiasFamily::Correlated};
  return all;
}

/// Names usable in names of parametrised tests.
inline std::string to_string(WeightFamily family) {
  static const std::vector<std::string> names = {"Deterministic", "MeanField", "Kronecker", "Eigenbasis",
                                                 "LowRank",       "Full",      "Joint"};
  return names[static_cast<std::size_t>(family)];
}
inline std::string to_string(BiasFamily family) {
  static const std::vector<std::string> names = {"FixedBias", "IndependentBias", "CorrelatedBias"};
  return names[static_cast<std::size_t>(family)];
}

/// Variances of about deviation^2, every fifth of them zero.
inline Matrix random_variances(Generator& generator, Index rows, Index cols, double deviation) {
  return Matrix::NullaryExpr(rows, cols, [&] {
    const double x = uniform(generator);
    return x < 0.2 ? 0.0 : 2.0 * deviation * deviation * x;
  });
}

/// Covariance of rank size - 1 (one for size one) with variances of about deviation^2.
inline Matrix random_singular_covariance(Generator& generator, Index size, double deviation) {
  const Index rank = std::max<Index>(1, size - 1);
  const Matrix factor =
      deviation / std::sqrt(static_cast<double>(rank)) * random_matrix(generator, size, rank);
  return factor * factor.transpose();
}

/// Law of an [outputs, inputs] weight matrix whose entries deviate by about `deviation`.
inline WeightCovariance random_weight_law(Generator& generator, WeightFamily family, Index inputs,
                                          Index outputs, double deviation) {
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
    case WeightFamily::Full:
      return FullWeights{random_singular_covariance(generator, outputs * inputs, deviation)};
    case WeightFamily::Joint:
      return JointWeights{random_singular_covariance(generator, outputs * (inputs + 1), deviation)};
  }
  return DeterministicWeights{};
}

inline BiasCovariance random_bias_law(Generator& generator, BiasFamily family, Index outputs,
                                      double deviation) {
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

/// What a random layer looks like. Means of weights are N(0, mean_scale^2 / inputs), their
/// deviations about deviation / sqrt(inputs); bias means N(0, 1/4), deviations `deviation`.
struct LayerRecipe {
  WeightFamily weights = WeightFamily::MeanField;
  BiasFamily bias = BiasFamily::Independent;
  Index inputs = 3;
  Index outputs = 4;
  double mean_scale = 1.0;
  double deviation = 0.3;
};

/// The joint weight family carries the bias, so the bias family of the recipe is then ignored.
inline DenseLayer random_layer(Generator& generator, const LayerRecipe& recipe,
                               const std::string& name = "layer") {
  const double root = std::sqrt(static_cast<double>(recipe.inputs));
  Matrix mean = recipe.mean_scale / root * random_matrix(generator, recipe.outputs, recipe.inputs);
  Vector bias_mean = 0.5 * random_matrix(generator, recipe.outputs, 1);
  WeightCovariance weights =
      random_weight_law(generator, recipe.weights, recipe.inputs, recipe.outputs, recipe.deviation / root);
  const BiasFamily family = recipe.weights == WeightFamily::Joint ? BiasFamily::Deterministic : recipe.bias;
  BiasCovariance bias = random_bias_law(generator, family, recipe.outputs, recipe.deviation);
  return {name, std::move(mean), std::move(bias_mean), std::move(weights), std::move(bias)};
}

/// A network with widths[0] inputs; the activation acts between layers, the input is raw.
struct NetworkRecipe {
  std::vector<Index> widths = {2, 8, 3};
  WeightFamily weights = WeightFamily::MeanField;
  BiasFamily bias = BiasFamily::Independent;
  ActivationFunction activation = ActivationFunction::Tanh;
  double mean_scale = 1.0;
  double deviation = 0.3;
  std::uint64_t seed = 0;
};

inline Network random_network(const NetworkRecipe& recipe) {
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
