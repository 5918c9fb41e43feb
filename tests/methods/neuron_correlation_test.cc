// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Covariances with a factor, written out: their entries against fifty digits (R.8), and canonical
// correlations of neurons that must not fall below the exact ones where products of the factor cancel (J.5).
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>

#include "methods/joint/cross_moments.h"
#include "mixcert/core/rounding.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace neuron_correlation_test {

using Precise = boost::multiprecision::cpp_bin_float_50;
using PreciseMatrix = Eigen::Matrix<Precise, Eigen::Dynamic, Eigen::Dynamic>;

PreciseMatrix exact_dense(const Covariance& covariance) {
  const Index n = covariance.dimension(), b = covariance.block_size();
  PreciseMatrix dense(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      dense(i, j) = i / b == j / b ? Precise(covariance.stacked_blocks()(i, j % b)) : Precise(0);
      for (Index k = 0; k < covariance.rank(); ++k) {
        dense(i, j) += Precise(covariance.factor()(i, k)) * Precise(covariance.factor()(j, k));
      }
    }
  }
  return dense;
}

PreciseMatrix inverse_of_two(const PreciseMatrix& m) {
  PreciseMatrix adjugate(2, 2);
  adjugate << m(1, 1), -m(0, 1), -m(1, 0), m(0, 0);
  return adjugate / (m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0));
}

/// The largest canonical correlation of two blocks of two: the root of the largest eigenvalue of C_ii^-1 C_ij
/// C_jj^-1 C_ji.
double exact_correlation(const PreciseMatrix& dense, Index i, Index j) {
  const PreciseMatrix across = dense.block(2 * i, 2 * j, 2, 2);
  const PreciseMatrix m = inverse_of_two(dense.block(2 * i, 2 * i, 2, 2)) * across *
                          inverse_of_two(dense.block(2 * j, 2 * j, 2, 2)) * across.transpose();
  const Precise half = (m(0, 0) + m(1, 1)) / 2, determinant = m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0);
  Precise root = half * half - determinant;
  if (root < 0) root = 0;
  return static_cast<double>(sqrt(half + sqrt(root)));
}

/// Two neurons at two inputs, noise of variance `noise` beside the factor. Products of the neurons' rows are
/// 1
/// + (small numbers) - 1: what the small ones add is lost where they are below 2^-53.
Covariance cancelling(Generator& generator, double small, double noise) {
  Matrix factor = Matrix::Zero(4, 4);
  for (Index row = 0; row < 4; ++row) {
    factor(row, 0) = factor(row, 3) = 1.0;
    if (row >= 2) factor(row, 3) = -1.0;
    for (const Index column : {1, 2}) factor(row, column) = small * random_matrix(generator, 1, 1)(0, 0);
  }
  Matrix blocks(4, 2);
  blocks << noise, 0.0, 0.0, noise, noise, 0.0, 0.0, noise;
  return Covariance::block_diagonal(blocks).plus_low_rank(factor);
}

Covariance random_with_factor(Generator& generator, Index neurons, Index rank) {
  Matrix blocks(2 * neurons, 2);
  for (Index j = 0; j < neurons; ++j) blocks.middleRows(2 * j, 2) = random_covariance(generator, 2);
  return Covariance::block_diagonal(blocks).plus_low_rank(random_matrix(generator, 2 * neurons, rank));
}

/// |error_ij| <= gamma_{r+2} (C_ii C_jj)^{1/2}, whatever cancels in the entry itself.
void expect_written_out(const Covariance& covariance) {
  const Matrix dense = covariance.to_dense();
  const PreciseMatrix exact = exact_dense(covariance);
  const double gamma = rounding_gamma(covariance.rank() + 2);
  for (Index i = 0; i < dense.rows(); ++i) {
    for (Index j = 0; j < dense.cols(); ++j) {
      const Precise error = abs(Precise(dense(i, j)) - exact(i, j));
      EXPECT_LE(error, Precise(gamma) * sqrt(exact(i, i) * exact(j, j))) << i << " " << j;
    }
  }
}

TEST(NeuronCorrelation, FactorsAreWrittenOutToRoundingOfTheDeviations) {
  Generator generator = make_generator(21, Stream::Example, 5);
  for (int trial = 0; trial < 20; ++trial) {
    expect_written_out(random_with_factor(generator, 4, 1 + trial));
    expect_written_out(cancelling(generator, std::pow(2.0, -20.0 - trial), 1e-9));
  }
  // Relative to the entry itself nothing is known: here all of it is lost.
  const Covariance lost = cancelling(generator, 0x1p-30, 1e-9);
  EXPECT_EQ(lost.to_dense()(0, 2), 0.0);
  EXPECT_NE(exact_dense(lost)(0, 2), 0);
}

TEST(NeuronCorrelation, IsNotBelowTheExactOneWhereProductsCancel) {
  Generator generator = make_generator(22, Stream::Example, 5);
  int lost = 0;
  for (const double noise : {1e-2, 1e-6, 1e-9}) {
    for (int exponent = -40; exponent <= -4; ++exponent) {
      const Covariance covariance = cancelling(generator, std::pow(2.0, exponent), noise);
      const PreciseMatrix exact = exact_dense(covariance);
      if (covariance.to_dense().block(0, 2, 2, 2).isZero(0.0)) ++lost;
      EXPECT_GE(neuron_correlation(covariance, 2)(0, 1), exact_correlation(exact, 0, 1))
          << noise << " " << exponent;
    }
  }
  EXPECT_GE(lost, 10);
}

TEST(NeuronCorrelation, IsNotBelowTheExactOneAndTightBesideAFactor) {
  Generator generator = make_generator(23, Stream::Example, 5);
  for (int trial = 0; trial < 30; ++trial) {
    const Covariance covariance = random_with_factor(generator, 3, 1 + trial % 5);
    const PreciseMatrix exact = exact_dense(covariance);
    const Matrix rho = neuron_correlation(covariance, 2);
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < i; ++j) {
        const double truth = exact_correlation(exact, i, j);
        EXPECT_GE(rho(i, j), truth);
        // The Schatten norm of order eight of two singular values.
        EXPECT_LE(rho(i, j), std::min(1.0, 1.0906 * truth + 1e-6));
      }
    }
  }
}

}  // namespace neuron_correlation_test
}  // namespace mixcert::testing
