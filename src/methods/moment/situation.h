// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the theorems ask about a network and its trace before they are evaluated, looked up once.
#pragma once

#include <vector>

#include "methods/moment/moment_error.h"
#include "methods/moment/moment_trace.h"
#include "mixcert/network/network.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

/// One hidden layer and the affine layer behind its activations.
struct LayerSituation {
  bool is_unmasked = false;              ///< no dropout on its activations
  bool is_one_piece = false;             ///< its law is one Gaussian
  bool has_independent_neurons = false;  ///< in every piece
  bool has_convex_sizes = false;         ///< of all activations, (Y.27)
  bool next_is_independent = false;      ///< weights and biases of the next layer, of each other
  bool next_is_random = false;           ///< weights of the next layer
  bool next_is_gaussian = false;         ///< weights and biases of the next layer
  bool next_has_noisy_bias = false;      ///< every output's
  bool next_has_noise = false;  ///< every output of the next layer is moved by its own weights or bias

  /// What may be used of the noise of the next layer.
  [[nodiscard]] NoiseRule noise_rule() const {
    const bool convex = is_unmasked && next_is_independent && next_is_random && has_convex_sizes;
    return convex ? NoiseRule::Convex : NoiseRule::Any;
  }
};

struct Situation {
  /// All arguments must outlive this.
  Situation(const Network& network, const ErrorNorms& error_norms, const MomentTrace& trace);

  const Network& network;
  const ErrorNorms& error_norms;
  const MomentTrace& trace;
  Index depth;       ///< hidden layers
  Index outputs;     ///< of the network
  Index components;  ///< of the output's mixture
  bool has_masks;    ///< anywhere
  std::vector<LayerSituation> layers;

  /// Of hidden layer `number`, 1..depth.
  [[nodiscard]] const LayerSituation& layer(Index number) const {
    return layers[static_cast<std::size_t>(number - 1)];
  }
  [[nodiscard]] const MomentLayerTrace& traced(Index number) const {
    return trace.layers[static_cast<std::size_t>(number - 1)];
  }
};

/// Per output, the variance that the layer's own weights and biases make of activations with these moments.
Vector own_noise(const DenseLayer& layer, const SurrogateLaw& law);

}  // namespace mixcert
