// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws from one Gaussian with a structured covariance; the factors are computed once.
#pragma once

#include "mixcert/core/rng.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

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

}  // namespace mixcert
