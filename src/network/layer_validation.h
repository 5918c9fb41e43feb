// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Checks of a dense layer's law. Covariances that are positive semidefinite up to the
// rounding of the file they came from are replaced by their positive semidefinite part, so
// that the law certified is the law stored; others are refused.
#pragma once

#include <string>

#include "mixcert/network/weight_law.h"

namespace mixcert {

/// Throws InvalidArgument "LAYER FIELD: ..." on the first thing wrong with the law.
void validate_law(const std::string& layer, const Matrix& weight_mean, const Vector& bias_mean,
                  WeightCovariance& weights, BiasCovariance& bias);

}  // namespace mixcert
