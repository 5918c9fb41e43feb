// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through the canonical correlations of (J.5).
#pragma once

#include "mixcert/mixture/covariance.h"

namespace mixcert {

/// `of_rho`: derivatives in rho_ij, every entry on its own. Adds to `law` the symmetric derivatives in the
/// covariance, dense; makes it of that size where it is empty.
void pull_neuron_correlation(const Covariance& covariance, Index input_count, const Matrix& of_rho,
                             Matrix& law);

}  // namespace mixcert
