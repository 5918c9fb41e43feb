// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Random numbers, the same on every platform for a given generator state: normal ones, those of one Gaussian,
// single weights of any shape and dropout factors.
#pragma once

#include "mixcert/core/rng.h"
#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"
#include "mixcert/network/weight_law.h"

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

// Draws of single weights of any shape, and of dropout factors.

/// Independent numbers of the law, mean zero and variance one, column by column; fill_normal() for the normal
/// law.
void fill_entries(const EntryLaw& law, Generator& generator, Matrix& out);

/// Multiplies every entry by a factor of its own. Draws nothing where there is no mask.
void apply_mask(const Mask& mask, Generator& generator, Matrix& activations);

}  // namespace mixcert
