// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two hidden layers with dropout masks, enumerated: every pattern of masks, its probability and its output,
// and the exact W2 of one output to any mixture of Gaussians.
#pragma once

#include <cstdint>
#include <vector>

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"

namespace mixcert::testing {

/// y = W2 (eta f2(W1 (xi a) + b1)) + b2, a = f1(z1).
struct TwoMaskedLayers {
  Activation first{ActivationFunction::Relu}, second{ActivationFunction::Relu};
  Vector inputs;  ///< z1
  Matrix weight;
  Vector bias;
  Matrix out_weight;
  Vector out_bias;
  double first_rate = 0.5, second_rate = 0.5;  ///< a second rate of zero: no mask

  [[nodiscard]] Network network() const;
};

/// Up to five masks in each layer, one to three outputs, rates from 0.02 to 0.9, sizes over some decades.
TwoMaskedLayers random_masked_layers(std::uint64_t seed, Index outputs);

/// A discrete law: one column and one probability for each pattern of masks.
struct Patterns {
  Matrix values;
  Vector probabilities;
};
/// Of the second hidden layer, over patterns of the first layer's masks; `masks` gets the standardised masks.
Patterns hidden_patterns(const TwoMaskedLayers& net, Matrix* masks);
Patterns output_patterns(const TwoMaskedLayers& net);

/// W2 between direction' y and the image of the mixture, by quantiles: exact but for a millionth of the
/// largest size, which is taken off. Components without a deviation get one that costs no more.
double line_distance(const Patterns& law, const Vector& direction, const GaussianMixture& mixture);

}  // namespace mixcert::testing
