// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through the push of a layer's surrogate to the next layer, jointly over inputs (J.1), and
// through the first layer.
#pragma once

#include "gradient/gaussian_gradient.h"
#include "methods/joint/joint_trace.h"
#include "mixcert/gradient/objective.h"

namespace mixcert {

/// Derivatives in the surrogate's means and gains, in the law's covariance, in the noise blocks.
struct PushCotangent {
  Vector mean;
  Vector gain;
  Matrix covariance;  ///< the size of the law's stacked blocks; empty without mean weights
  Vector deviation;
  Matrix noise;  ///< stacked like JointNoise::blocks
};

/// `of` is the derivative in the pushed law; adds to the layer's means.
PushCotangent pull_joint_push(const DenseLayer& next, Index input_count, const JointLayerTrace& layer,
                              const GaussianGradient& of, LayerGradient& gradient);

}  // namespace mixcert
