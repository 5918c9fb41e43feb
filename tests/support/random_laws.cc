// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Points, weights, covariances and mixtures.
#include "support/random_laws.h"

#include <random>
#include <utility>
#include <vector>

namespace mixcert::testing {

Matrix random_matrix(Generator& generator, Index rows, Index cols) {
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(rows, cols, [&] { return normal(generator); });
}

Vector random_weights(Generator& generator, Index size) {
  const Vector weights = Vector::NullaryExpr(size, [&] { return 0.01 + uniform(generator); });
  return weights / weights.sum();
}

Matrix random_covariance(Generator& generator, Index dimension) {
  const Matrix factor = random_matrix(generator, dimension, dimension + 1);
  return factor * factor.transpose() / static_cast<double>(dimension);
}

GaussianMixture random_mixture(Generator& generator, Index size, Index dimension) {
  std::vector<Gaussian> components;
  for (Index i = 0; i < size; ++i) {
    components.push_back({2.0 * random_matrix(generator, dimension, 1),
                          Covariance::dense(random_covariance(generator, dimension))});
  }
  return {random_weights(generator, size), std::move(components)};
}

Matrix squared_distance_matrix(const Matrix& a, const Matrix& b) {
  return Matrix::NullaryExpr(a.cols(), b.cols(),
                             [&](Index i, Index j) { return (a.col(i) - b.col(j)).squaredNorm(); });
}

}  // namespace mixcert::testing
