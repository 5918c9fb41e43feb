// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reusable invariants: closeness with a stated scale, probability vectors, positive
// semidefinite matrices, valid mixtures.
#pragma once

#include <gtest/gtest.h>

#include "mixcert/mixture/gaussian_mixture.h"
#include "support/tolerances.h"

namespace mixcert::testing {

/// |got - expected| <= tolerance * scale.
::testing::AssertionResult is_close(double got, double expected, double tolerance, double scale);

/// Relative closeness.
::testing::AssertionResult is_close(double got, double expected, double tolerance);

/// Entrywise closeness relative to the largest expected entry.
::testing::AssertionResult is_close(const Matrix& got, const Matrix& expected, double tolerance);

::testing::AssertionResult is_probability_vector(const Vector& weights);

/// Symmetric, and no eigenvalue below -tolerance * trace.
::testing::AssertionResult is_positive_semidefinite(const Matrix& matrix);

/// Weights sum to one, one dimension throughout, finite means, semidefinite covariances.
::testing::AssertionResult is_valid_mixture(const GaussianMixture& mixture);

}  // namespace mixcert::testing
