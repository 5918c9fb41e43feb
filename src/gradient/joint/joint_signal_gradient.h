// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of a layer's local error jointly over inputs, (J.1): the signal input by input, the noise by
// its costs, both in the norms of the error norm that was chosen.
#pragma once

#include "gradient/error_norm_gradient.h"
#include "gradient/moment/surrogate_gradient.h"
#include "methods/joint/joint_trace.h"

namespace mixcert {

struct JointLocalGradient {
  SurrogateGradient surrogate;      ///< one entry per coordinate
  Vector deviation;                 ///< in the coordinates' deviations, through correlations
  Matrix covariance;                ///< dense; empty where neurons are independent or there is no signal
  Vector cost;                      ///< in the noise costs of the outputs
  std::vector<NormGradient> norms;  ///< of the error norm
};

/// Of weight * sum_n factor_n (signal_n + metric_n' cost)^{1/2}.
JointLocalGradient joint_local_gradient(const JointLayerTrace& layer, const ErrorNorm& error_norm,
                                        Index input_count, double weight);

}  // namespace mixcert
