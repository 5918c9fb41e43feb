// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mean-square errors of the activations of one layer, per coordinate and component, that a
// signature makes; any metric is then a weighted sum of them.
#pragma once

#include "methods/signature/signature_trace.h"
#include "mixcert/activation/activation.h"

namespace mixcert {

/// Entry (i, j): bound of E (s(z_i) - s(c_i))^2 in component j.
struct LocalErrors {
  Matrix nominal;
  Matrix upper;
};

/// Bound of E (s(z) - s(c))^2 for z ~ N(mean, deviation^2) and c its quantizer's location, by the
/// local slopes of every cell (S.4).
UpperBound coordinate_error(const Activation& activation, double mean, double deviation,
                            const NormalQuantizer& quantizer);

/// `refine`: use local slopes where the covariance is diagonal (A.3); otherwise l^2 times the
/// mean-square error of the pre-activation.
LocalErrors local_errors(const SignatureLayerTrace& layer, const ActivationMap& activation, Index input_count,
                         bool refine);

}  // namespace mixcert
