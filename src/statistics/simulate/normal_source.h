// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Normal numbers, the same on every platform for a given generator state, and draws from one Gaussian.
#pragma once

#include "mixcert/core/rng.h"
#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

/// Fills `out` with independent standard normals, column by column.
void fill_normal(Generator& generator, Eigen::Ref<Matrix> out);

// Draws from one Gaussian with a structured covariance; the factors are computed once.

class GaussianSampler {
 public:
  explicit GaussianSampler(const Gaussian& gaussian);

  /// dimension x count. Safe to call from several threads at once.
  [[nodiscard]] Matrix draw(Generator& generator, Index count) const;

 private:
  Vector mean_;
  Matrix block_factors_;  // stacked as the blocks of the covariance are: (p b) x b
  Matrix factor_;         // dimension x rank
};

// Square roots of covariances for drawing from them; singular ones are normal input.

/// L with L L' = `matrix` (symmetric positive semidefinite, lower triangle read): the
/// Cholesky factor where it exists, otherwise the eigenvectors scaled by the square roots
/// of the eigenvalues, those below zero by rounding taken as zero.
Matrix psd_factor(ConstMatrixRef matrix);

}  // namespace mixcert
