// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums over neurons of what the Stein bound of a layer is made of (Y.9), in coordinates in which the
// Gaussian's covariance is at least the identity. Squared norms of the tensors in a metric are forms in its
// entries; their coefficients do not depend on the flow's time.
#pragma once

#include <vector>

#include "theorems/stein/stein_columns.h"

namespace mixcert {

/// Coefficients of sum_b omega_b sum_(a <= c) coefficients(b, (a, c)) E_ac: m rows, m (m + 1)/2 columns.
struct SteinForm {
  Matrix mean, fluctuation;
  double error = 0.0;  ///< of the root of the mean's form, metric 1
  double size = 0.0;   ///< no less than the root of mean and fluctuation, metric 1, all signs alike
};

struct SteinNorms {
  double first = 0.0;    ///< (E |(T - C) C^{-1/2}|^2)^{1/2}
  SteinForm second;      ///< of 2 |A|^2, E = diag(omega) or any other metric in one of the slots
  Matrix second_shared;  ///< the fluctuation's with neuron j counted t_j times (Y.12)
  SteinForm third;       ///< of 6 |B|^2, E = omega omega'
  double gamma = 0.0;    ///< relative rounding of the forms
};

/// root C root' >= I; `shares` are the t_j.
SteinNorms stein_norms(const DenseLayer& layer, const Matrix& root, const std::vector<NeuronKernels>& kernels,
                       const Vector& shares);

}  // namespace mixcert
