// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The semidefinite program (M.7): feasible, no larger than the closed forms, and between the largest value
// over signs and pi/2 times that.
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "mixture/symmetric_eigen.h"
#include "sensitivity/error_norm.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace semidefinite_form_test {

Matrix random_matrix(Generator& generator, Index rows, Index cols) {
  return Matrix::NullaryExpr(rows, cols, [&] { return 2.0 * uniform(generator) - 1.0; });
}

/// Semidefinite, of rank 1 to n + 1, its coordinates of sizes that differ.
Matrix random_gram(Generator& generator, Index n, Index rank) {
  Matrix factor = random_matrix(generator, rank, n);
  for (Index i = 0; i < n; ++i) factor.col(i) *= std::exp(4.0 * uniform(generator) - 2.0);
  return factor.transpose() * factor;
}

/// max of s'As over all signs of the coordinates of `widths`.
double largest_over_corners(const Matrix& a, const Vector& widths) {
  double largest = 0.0;
  for (Index corner = 0; corner < (Index{1} << a.rows()); ++corner) {
    Vector s = widths;
    for (Index i = 0; i < s.size(); ++i) {
      if ((corner >> i) % 2 == 1) s(i) = -s(i);
    }
    largest = std::max(largest, s.dot(a * s));
  }
  return largest;
}

TEST(SemidefiniteForm, LiesBetweenTheLargestValueOverCornersAndHalfPiTimesIt) {
  Generator generator = make_generator(5, Stream::Example);
  for (Index n = 1; n <= 9; ++n) {
    for (Index rank = 1; rank <= n + 1; ++rank) {
      const Matrix a = random_gram(generator, n, rank);
      const Vector widths = random_matrix(generator, n, 1).cwiseAbs().array() + 0.1;
      const Vector errors = widths.cwiseAbs2();
      const Vector g = feasible_diagonal(a, errors, semidefinite_form());
      EXPECT_GE(symmetric_eigen(Matrix(g.asDiagonal()) - a).values(0), -1e-13 * a.trace());
      const double value = g.dot(errors), corner = largest_over_corners(a, widths);
      EXPECT_GE(value, (1.0 - 1e-12) * corner);
      EXPECT_LE(value, 1.01 * 0.5 * std::numbers::pi * corner) << n << " coordinates, rank " << rank;
      for (const MetricForm& form : closed_forms())
        EXPECT_LE(value, 1.01 * feasible_diagonal(a, errors, form).dot(errors)) << form.name;
    }
  }
}

TEST(SemidefiniteForm, LeavesOutCoordinatesThatAreNotThere) {
  Generator generator = make_generator(6, Stream::Example);
  Matrix a = random_gram(generator, 5, 3);
  a.row(2).setZero();
  a.col(2).setZero();
  const Vector g = feasible_diagonal(a, Vector::Ones(5), semidefinite_form());
  EXPECT_LT(g(2), 1e-280);
  EXPECT_GT(g(1), 0.0);
  EXPECT_LT(feasible_diagonal(Matrix::Zero(3, 3), Vector::Ones(3), semidefinite_form()).maxCoeff(), 1e-280);
}

}  // namespace semidefinite_form_test
}  // namespace mixcert::testing
