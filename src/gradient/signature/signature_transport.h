// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of the cost between structured Gaussians that compression pays (T.1), (T.4), (Z.24). Dense
// covariances over thousands of coordinates are never formed; transport_gradient.h is for those.
// Blocks K of derivatives act on factors from the left: for a covariance block B B' the derivative in B is 2
// K B. For nonsingular blocks K is symmetric and the derivative in the usual sense; for singular ones it need
// not be.
#pragma once

#include "gradient/gaussian_gradient.h"

namespace mixcert {

struct StructuredTransportGradient {
  GaussianGradient from;
  GaussianGradient to;
  Vector metric;
};

/// Of gaussian_transport_cost(from, to, metric). `from` has no low-rank part; both have blocks of one size.
StructuredTransportGradient structured_transport_gradient(const Gaussian& from, const Gaussian& to,
                                                          ConstVectorRef metric);

}  // namespace mixcert
