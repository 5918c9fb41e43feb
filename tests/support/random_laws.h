// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Seeded random points, weights, covariances and mixtures for the transport tests.
#pragma once

#include "mixcert/core/rng.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert::testing {

Matrix random_matrix(Generator& generator, Index rows, Index cols);

Vector random_weights(Generator& generator, Index size);

Matrix random_covariance(Generator& generator, Index dimension);

GaussianMixture random_mixture(Generator& generator, Index size, Index dimension);

/// |a_i - b_j|^2 for columns of a and b, by the definition.
Matrix squared_distance_matrix(const Matrix& a, const Matrix& b);

}  // namespace mixcert::testing
