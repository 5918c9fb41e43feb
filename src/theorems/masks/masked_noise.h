// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Gaussian weights behind dropout masks and fixed activations, docs/theory/mask-sums.md (D.16): given the
// masks an output has the variance S = least + sum_j x_j m_j^2, m_j in {0, 1/kappa}, which is linear in them.
#pragma once

#include "mixcert/core/types.h"
#include "mixcert/network/network.h"

namespace mixcert {

struct MaskedNoise {
  double mean = 0.0;      ///< E S, as computed; off by at most gamma_{n+16} of itself
  double distance = 0.0;  ///< no less than E (S^{1/2} - (E S)^{1/2})^2
};

/// `shares` are the x_j >= 0, as they stand; at most about `most_operations` are spent.
MaskedNoise masked_noise(const Mask& mask, double least, const Vector& shares, double most_operations);

}  // namespace mixcert
