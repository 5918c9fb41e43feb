// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives in the parts of mixtures.
#pragma once

#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

// What a number made of a mixture says about its components.

/// Derivatives of a number in the components of a mixture, dense; weights of components are constants.
struct MixtureCotangent {
  std::vector<Vector> means;
  std::vector<Matrix> covariances;
};

// Derivatives of a number f with respect to a Gaussian: df = mean' dm + <blocks, dB> + <factor, dF> for
// changes dm of the mean, dB of the stacked (symmetric) blocks and dF of the low-rank factor. `blocks` is
// symmetric in each block, so that an off-diagonal entry and its mirror image share the derivative;
// derivatives of transport costs at singular blocks need not be, and act on factors from the left (Z.24).

struct GaussianGradient {
  Vector mean;
  Matrix blocks;  ///< the size of Covariance::stacked_blocks()
  Matrix factor;  ///< the size of Covariance::factor()

  static GaussianGradient zero(const Gaussian& gaussian) {
    return {Vector::Zero(gaussian.dimension()),
            Matrix::Zero(gaussian.dimension(), gaussian.covariance.block_size()),
            Matrix::Zero(gaussian.dimension(), gaussian.covariance.rank())};
  }
};

}  // namespace mixcert
