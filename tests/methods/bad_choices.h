// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What tests of planners share: small networks, and a distance that is proven whatever the planner did.
#pragma once

#include "mixcert/certify/certify.h"
#include "mixcert/network/network.h"
#include "mixcert/statistics/simulate.h"
#include "support/random_network.h"

namespace mixcert::testing {

/// Two hidden layers of five and four neurons with this mask on each.
inline Network small_network(const Mask& mask) {
  NetworkRecipe recipe;
  recipe.widths = {3, 5, 4, 2};
  recipe.seed = 21;
  const Network plain = random_network(recipe);
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (Index k = 0; k < plain.layer_count(); ++k) {
    layers.push_back(plain.layer(k));
    activations.push_back(plain.activation(k));
  }
  return {std::move(layers), std::move(activations), {Mask(), mask, mask}};
}

/// The same sizes, with weights whose outputs are correlated.
inline Network correlated_network() {
  NetworkRecipe recipe;
  recipe.widths = {3, 5, 4, 2};
  recipe.weights = WeightFamily::Full;
  recipe.seed = 22;
  return random_network(recipe);
}

inline Matrix probe(const Network& network) { return Vector::LinSpaced(network.inputs(), -0.8, 1.1); }

/// Components of weights 1/4 and 3/4 in two dimensions.
inline GaussianMixture pair_of_gaussians() {
  const Covariance unit = Covariance::diagonal(Vector::Ones(2));
  return {Vector{{0.25, 0.75}}, {{Vector::Zero(2), unit}, {Vector::Ones(2), unit}}};
}

/// No more than W2 of the network's output at the probe and the mixture, from samples (C.2).
inline double proven_distance(const Network& network, const GaussianMixture& mixture) {
  Options options;
  options.statistics = 4000;
  return two_sided_statistics(network, probe(network), 0, {}, mixture, options).w2_lower_statistical;
}

}  // namespace mixcert::testing
