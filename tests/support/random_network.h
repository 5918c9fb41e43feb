// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Seeded random layers and networks of every weight family, bias family and activation, for
// oracle and property tests. Covariances are singular on purpose (rank one below full where
// the size allows), variances contain zeros: degenerate laws are normal input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mixcert/network/network.h"
#include "support/random_laws.h"

namespace mixcert::testing {

enum class WeightFamily {
  Deterministic,
  MeanField,
  Kronecker,
  KroneckerEigenbasis,
  LowRank,
  Full,
  Joint,
  LowRankWithBias,  ///< not among all_weight_families(): laws of low rank, once more
};
enum class BiasFamily { Deterministic, Independent, Correlated };

const std::vector<WeightFamily>& all_weight_families();

const std::vector<BiasFamily>& all_bias_families();

/// Names usable in names of parametrised tests.
std::string to_string(WeightFamily family);
std::string to_string(BiasFamily family);

/// Variances of about deviation^2, every fifth of them zero.
Matrix random_variances(Generator& generator, Index rows, Index cols, double deviation);

/// Covariance of rank size - 1 (one for size one) with variances of about deviation^2.
Matrix random_singular_covariance(Generator& generator, Index size, double deviation);

/// Law of an [outputs, inputs] weight matrix whose entries deviate by about `deviation`.
WeightCovariance random_weight_law(Generator& generator, WeightFamily family, Index inputs, Index outputs,
                                   double deviation);

BiasCovariance random_bias_law(Generator& generator, BiasFamily family, Index outputs, double deviation);

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
DenseLayer random_layer(Generator& generator, const LayerRecipe& recipe, const std::string& name = "layer");

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

Network random_network(const NetworkRecipe& recipe);

}  // namespace mixcert::testing
