// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The random part of a dense layer's output given its activations,
//     (W - E W) a + (b - E b),
// drawn for many activations at once. Columns of the activations come in groups of
// `group_size`; a group is one sample and shares one draw of (W, b). Groups of one column
// are drawn by local reparametrisation where that is cheaper than drawing the weights.
#pragma once

#include <memory>
#include <vector>

#include "mixcert/core/rng.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

class LayerNoise {
 public:
  LayerNoise() = default;
  LayerNoise(const LayerNoise&) = delete;
  LayerNoise& operator=(const LayerNoise&) = delete;
  virtual ~LayerNoise() = default;

  /// Adds a draw to `outputs` (outputs x columns) for `activations` (inputs x columns).
  /// Safe to call from several threads at once.
  virtual void add(const Matrix& activations, Generator& generator, Matrix& outputs) const = 0;
};

/// The part of a layer's noise that is made of normals which other layers see too (N.7): adds
/// sum_s z_s (F_s a + f_s), a column of `normals` for each group.
void add_common_noise(const LowRankWeights& law, const Matrix& activations, const Matrix& normals,
                      Index group_size, Matrix& outputs);

/// Independent terms that sum to the noise of `layer`, but for the common part of `with_common` false; none
/// for a deterministic layer. Whatever has to be factored is factored here.
std::vector<std::unique_ptr<LayerNoise>> make_layer_noise(const DenseLayer& layer, Index group_size,
                                                          bool with_common = true);

// Noise of a layer whose weights have a dense covariance.

/// `covariance` of the rows of W one after the other, or of [W, b] where `includes_bias`.
std::unique_ptr<LayerNoise> full_weight_noise(const Matrix& covariance, Index outputs, bool includes_bias,
                                              Index group_size);

}  // namespace mixcert
