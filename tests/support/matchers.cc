// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Eigenvalues are those of symmetric_eigen, which has its own test by definition.
#include "support/matchers.h"

#include <cmath>

#include "mixture/symmetric_eigen.h"

namespace mixcert::testing {

::testing::AssertionResult is_close(double got, double expected, double tolerance, double scale) {
  const double difference = std::abs(got - expected);
  if (difference <= tolerance * scale) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "got " << got << ", expected " << expected << ", difference "
                                       << difference << " > " << tolerance << " * " << scale;
}

::testing::AssertionResult is_close(double got, double expected, double tolerance) {
  return is_close(got, expected, tolerance, std::abs(expected));
}

::testing::AssertionResult is_close(const Matrix& got, const Matrix& expected, double tolerance) {
  if (got.rows() != expected.rows() || got.cols() != expected.cols()) {
    return ::testing::AssertionFailure() << "got shape " << got.rows() << " x " << got.cols() << ", expected "
                                         << expected.rows() << " x " << expected.cols();
  }
  if (expected.size() == 0) return ::testing::AssertionSuccess();
  const double difference = (got - expected).cwiseAbs().maxCoeff();
  const double scale = expected.cwiseAbs().maxCoeff();
  if (difference <= tolerance * scale) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "largest difference " << difference << " > " << tolerance << " * " << scale << "\ngot\n"
         << got << "\nexpected\n"
         << expected;
}

::testing::AssertionResult is_probability_vector(const Vector& weights) {
  if (weights.size() > 0 && weights.minCoeff() >= 0.0 &&
      std::abs(weights.sum() - 1.0) <= Tolerance::weights) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "not a probability vector: smallest " << (weights.size() > 0 ? weights.minCoeff() : NAN)
         << ", sum - 1 = " << weights.sum() - 1.0;
}

::testing::AssertionResult is_positive_semidefinite(const Matrix& matrix) {
  if (!matrix.allFinite()) return ::testing::AssertionFailure() << "not finite:\n" << matrix;
  if (matrix.size() == 0) return ::testing::AssertionSuccess();
  const double scale = matrix.trace();
  if ((matrix - matrix.transpose()).cwiseAbs().maxCoeff() > Tolerance::linear_algebra * scale) {
    return ::testing::AssertionFailure() << "not symmetric:\n" << matrix;
  }
  const double smallest = symmetric_eigen(matrix).values(0);
  if (smallest >= -Tolerance::linear_algebra * scale) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "smallest eigenvalue " << smallest << " of trace " << scale;
}

::testing::AssertionResult is_valid_mixture(const GaussianMixture& mixture) {
  if (const auto weights = is_probability_vector(mixture.weights()); !weights) return weights;
  for (const Gaussian& component : mixture.components()) {
    if (component.dimension() != mixture.dimension() ||
        component.covariance.dimension() != mixture.dimension()) {
      return ::testing::AssertionFailure() << "components differ in dimension";
    }
    if (!component.mean.allFinite()) return ::testing::AssertionFailure() << "a mean is not finite";
    const auto definite = is_positive_semidefinite(component.covariance.to_dense());
    if (!definite) return definite;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace mixcert::testing
