// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How strongly functions of one neuron at all inputs may be correlated with functions of another, (J.5).
#pragma once

#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

/// Entry (i, j): no less than the largest canonical correlation of the blocks of neurons i and j, and one on
/// the diagonal. Empty when neurons are independent.
Matrix neuron_correlation(const Covariance& covariance, Index input_count);

}  // namespace mixcert
