// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through the noise of a layer at all inputs, (J.3) to (J.5): from blocks T_l and costs back to
// the weights' variances, the moments of every neuron and, where neurons depend on each other, their law.
#pragma once

#include <vector>

#include "gradient/joint/neuron_gradient.h"
#include "methods/joint/cross_moments.h"
#include "methods/joint/joint_trace.h"
#include "mixcert/gradient/objective.h"

namespace mixcert {

/// Derivatives in what JointNoise hands on.
struct NoiseCotangent {
  Matrix blocks;  ///< in T_l, stacked, each symmetric
  Vector cost;
};

/// Adds to the layer's variances; `neurons` (one per neuron) receive derivatives in their moments, `law`
/// (dimension x block size, empty for independent neurons) those in the covariance through (J.5).
void pull_noise(const DenseLayer& next, const JointLayerTrace& layer, const CrossMoments& moments,
                const NoiseCotangent& cotangent, LayerGradient& gradient,
                std::vector<NeuronCotangent>& neurons, Matrix& law);

}  // namespace mixcert
