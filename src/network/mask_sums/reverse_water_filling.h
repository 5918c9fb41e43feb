// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How much of a Gaussian a discrete variable of bounded entropy can tell, docs/theory/mask-sums.md (D.9 ii):
// Shannon's distortion-rate function by reverse water-filling, from below.
#pragma once

#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

/// No more than the eigenvalues of the symmetric matrix, none negative, in some order; its entries are off by
/// at most `error` in norm together. Checked: no eigensolver is trusted.
Vector proven_eigenvalues(const Matrix& matrix, double error);

/// Eigenvalues that are met with some probability.
struct WeightedSpectrum {
  double weight;
  Vector values;
};

/// No more than min sum_i w_i sum_k min(d_ik, lambda_ik) over d with sum_i w_i sum_k (1/2)
/// log^+(lambda_ik/d_ik)
/// <= entropy. Weights are a distribution up to 1e-9. Zero where nothing is left.
double least_distortion(const std::vector<WeightedSpectrum>& spectra, double entropy);

}  // namespace mixcert
