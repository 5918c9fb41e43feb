// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The integral over the Ornstein-Uhlenbeck flow (Y.12).
#pragma once

#include "theorems/stein/noise_transform.h"
#include "theorems/stein/stein_sums.h"

namespace mixcert {

/// Coordinates in which covariance and noise are both nearly diagonal (Y.14).
struct SteinCoordinates {
  bool exist = false;
  Matrix root;          ///< root covariance root' >= I
  Vector noise;         ///< N, no more than E S
  Vector shares;        ///< diagonal of root N root', which is at most I
  double defect = 0.0;  ///< no less than the norm of what else that matrix is made of
};

/// W2 to the Gaussian by the best mix of first order and higher orders.
double stein_flow(const SteinNorms& norms, const SteinCoordinates& at, const NoiseTransform& transform);

}  // namespace mixcert
