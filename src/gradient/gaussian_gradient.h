// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of a number f with respect to a Gaussian: df = mean' dm + <blocks, dB> + <factor, dF> for
// changes dm of the mean, dB of the stacked (symmetric) blocks and dF of the low-rank factor. `blocks` is
// symmetric in each block, so that an off-diagonal entry and its mirror image share the derivative;
// derivatives of transport costs at singular blocks need not be, and act on factors from the left (Z.24).
#pragma once

#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

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
