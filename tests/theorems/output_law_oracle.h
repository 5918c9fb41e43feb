// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks with one hidden layer and one output, and W2 between their output and a Gaussian by brute force,
// from the definitions: Simpson's rule for the characteristic function, Gil-Pelaez inversion, quantiles by
// bisection.
#pragma once

#include <cstdint>
#include <vector>

#include "mixcert/certificate/result.h"
#include "mixcert/network/network.h"

namespace mixcert::testing {

struct LineNetwork {
  Activation activation;
  Vector mean, deviation;   ///< of the hidden pre-activations
  Vector weight, variance;  ///< of the output's weights
  double bias = 0.0, bias_variance = 0.0;

  /// One feature, which is 1.
  [[nodiscard]] Network network() const;
};

/// W2(output, mixture) of a mixture on the line, with the same caveats.
double naive_line_distance(const LineNetwork& network, const GaussianMixture& mixture);

/// W2(output, N(mean, deviation^2)), a little below the truth (tails beyond five deviations are left out);
/// negative where the noise is too small for the inversion.
double naive_line_distance(const LineNetwork& network, double mean, double deviation);

/// P(output <= mean + place * deviation) at each place; empty where the noise is too small for the inversion.
std::vector<double> naive_probabilities(const LineNetwork& network, double mean, double deviation,
                                        const std::vector<double>& places);

/// The result at the feature 1.
Result certify_line(const LineNetwork& network, Method method = Method::Auto);

/// Widths 1 to 8, noise over four decades; neurons that are dead, constant, at their kink, equal or opposite.
LineNetwork random_line_network(std::uint64_t seed);

/// As after training: many neurons with hardly a weight but noise, some saturated with a large weight, some
/// that carry the output. Widths 16 to 48.
LineNetwork random_trained_line(std::uint64_t seed);

/// The same with several outputs: columns of `weight` and `variance` are neurons.
struct LayerNetwork {
  Activation activation;
  Vector mean, deviation;
  Matrix weight, variance;
  Vector bias_variance;

  /// The output along `direction`.
  [[nodiscard]] LineNetwork along(const Vector& direction) const;
};

/// The bound (Y.9) of one Gaussian piece; infinite where it does not apply.
double stein_distance(const LayerNetwork& network);
/// The largest distance between the output and its Gaussian along a few directions, each no more than W2;
/// negative where none could be computed.
double largest_projection(const LayerNetwork& network);
LayerNetwork random_layer_network(std::uint64_t seed, Index outputs, Index width);
/// Bounds (Y.9) of random layers with 1 to 3 outputs and up to `widest` neurons must not be below their
/// projections; how many were compared.
Index check_random_layers(std::uint64_t first, Index count, Index widest = 9);

/// Certifies random networks from `first` on; bounds must not be below brute force. Returns how many were
/// compared.
Index check_random_lines(std::uint64_t first, Index count);
/// The same for networks as after training. Returns how many bounds are within five per cent of the truth, or
/// of 4e-4 of the deviation.
Index check_trained_lines(std::uint64_t first, Index count);

}  // namespace mixcert::testing
