// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks with two hidden layers, the bounds (Y.20) and (Y.28), and what they must not be below: the
// couplings that they are about, drawn from its definition, and sorted samples of the output.
#pragma once

#include <cstdint>

#include "certificate/sealed.h"
#include "methods/moment/moment_trace.h"
#include "mixcert/certificate/result.h"
#include "mixcert/network/network.h"

namespace mixcert::testing {

/// One feature, which is 1.
struct TwoLayerNetwork {
  Activation activation;
  Vector mean, deviation;  ///< of the first pre-activations
  Matrix weight, variance;
  Vector bias, bias_variance;
  Matrix out_weight, out_variance;
  Vector out_bias_variance;

  [[nodiscard]] Network network() const;
};

/// Noise over four decades and more; neurons that are dead, constant or at their kink.
TwoLayerNetwork random_two_layers(std::uint64_t seed);

/// Of the moment method with one Gaussian.
Sealed<MomentTrace> two_layer_trace(const Network& network);
/// (Y.20) and (Y.28); infinite where they do not apply.
struct StageValues {
  double first = 0.0;  ///< the first layer's error at the output
  double both = 0.0;   ///< that of both layers
};
StageValues two_layer_bounds(const Network& network);

/// Means of |W (s(z) - s(z'))|^2 and of |y - y''|^2, y'' the output's Gaussian, over draws of x and g,
/// weights by their moments; less four standard errors.
StageValues coupled_squares(const TwoLayerNetwork& net, Index samples, std::uint64_t seed);
/// W2 between sorted samples of a network with one output and the Gaussian of a result.
double sampled_distance(const TwoLayerNetwork& net, const Result& result, Index samples, std::uint64_t seed);

struct TwoLayerCheck {
  Index compared = 0;
  StageValues largest;  ///< of the ratios of coupling and bound
};
/// Bounds of random networks from seed `first` on must not be below their couplings.
TwoLayerCheck check_random_two_layers(std::uint64_t first, Index count, Index samples);

/// Certificates that use (Y.30) must not be below sorted samples, nor above method moment's: networks with
/// one output whose first layer moves the second one's neurons little. Returns how many there were.
Index check_signals_apart(std::uint64_t first, Index count, Index samples);

}  // namespace mixcert::testing
