// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of W2 between Gaussians and of MW2 against central differences of gelbrich_squared and
// mixture_transport, which are other code; kernels of smooth functions, whose eigenvalues fall to rounding,
// and covariances of low rank along changes that keep the rank.
#include <gtest/gtest.h>

#include <cmath>

#include "gradient/weight_gradient.h"
#include "mixcert/core/error.h"
#include "mixcert/transport/gaussian_transport.h"
#include "mixcert/transport/mixture_transport.h"
#include "mixture/symmetric_eigen.h"
#include "support/matchers.h"
#include "support/random_covariances.h"

namespace mixcert {
namespace transport_gradient_test {

using testing::is_close;
using testing::random_matrix;

Matrix random_definite(Generator& generator, Index size) {
  const Matrix root = random_matrix(generator, size, size);
  return root * root.transpose() + 0.5 * Matrix::Identity(size, size);
}

Matrix random_symmetric(Generator& generator, Index size) {
  const Matrix square = random_matrix(generator, size, size);
  return square + square.transpose();
}

/// exp(-(x-y)^2 / (2 l^2)) at `size` points of [-1, 1].
Matrix smooth_kernel(Index size, double lengthscale) {
  const Vector x = Vector::LinSpaced(size, -1.0, 1.0);
  Matrix kernel(size, size);
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j < size; ++j) kernel(i, j) = std::exp(-0.5 * std::pow((x(i) - x(j)) / lengthscale, 2));
  }
  return kernel;
}

TEST(GaussianTransportGradient, AgreesWithCentralDifferences) {
  Generator generator(11);
  for (int trial = 0; trial < 5; ++trial) {
    const Matrix a = random_definite(generator, 6);
    const Matrix b = random_definite(generator, 6);
    const Vector mean_a = random_matrix(generator, 6, 1);
    const Vector mean_b = random_matrix(generator, 6, 1);
    const GaussianTransportGradient got = gaussian_transport_gradient(mean_a, a, mean_b, b);
    EXPECT_TRUE(is_close(got.squared, gelbrich_squared(mean_a, a, mean_b, b), 1e-13, a.trace()));
    EXPECT_EQ(got.covariance, Matrix(got.covariance.transpose()));
    const Matrix change = random_symmetric(generator, 6);
    const Vector shift = random_matrix(generator, 6, 1);
    const double step = 3e-5;
    const double up = gelbrich_squared(mean_a + step * shift, a + step * change, mean_b, b);
    const double down = gelbrich_squared(mean_a - step * shift, a - step * change, mean_b, b);
    const double expected = (up - down) / (2.0 * step);
    const double value = got.mean.dot(shift) + got.covariance.cwiseProduct(change).sum();
    EXPECT_TRUE(is_close(value, expected, 1e-7, shift.norm() * got.mean.norm() + change.norm()));
  }
}

// 20 points, length-scale 1: eigenvalues of 1e-16 of the largest.
TEST(GaussianTransportGradient, StableForKernelsAtTheEdgeOfRounding) {
  const Index n = 20;
  const Vector zero = Vector::Zero(n);
  const Matrix target = smooth_kernel(n, 1.0);
  const Matrix rough = smooth_kernel(n, 0.5);
  const Matrix very_smooth = smooth_kernel(n, 2.0);
  const auto value = [&](double t) {
    return gaussian_transport_gradient(zero, rough + t * very_smooth, zero, target).squared;
  };
  const GaussianTransportGradient got = gaussian_transport_gradient(zero, rough + very_smooth, zero, target);
  EXPECT_TRUE(
      is_close(got.squared, gelbrich_squared(zero, rough + very_smooth, zero, target), 1e-7, target.trace()));
  const double step = 1e-3;
  const double coarse = (value(1.0 + step) - value(1.0 - step)) / (2.0 * step);
  const double fine = (value(1.0 + step / 2) - value(1.0 - step / 2)) / step;
  EXPECT_TRUE(is_close(got.covariance.cwiseProduct(very_smooth).sum(), (4.0 * fine - coarse) / 3.0, 1e-5));
  EXPECT_TRUE(got.covariance.allFinite());
}

// N(0, K) to N(0, 4 K): the map doubles what K spans, so that <I - T, K> = -tr K.
TEST(GaussianTransportGradient, ScalingOfASingularKernel) {
  const Index n = 20;
  const Matrix kernel = smooth_kernel(n, 1.0);
  const Vector zero = Vector::Zero(n);
  const GaussianTransportGradient got = gaussian_transport_gradient(zero, kernel, zero, 4.0 * kernel);
  EXPECT_TRUE(is_close(got.squared, kernel.trace(), 1e-12));
  EXPECT_TRUE(is_close(got.covariance.cwiseProduct(kernel).sum(), -kernel.trace(), 1e-12));
  const Matrix map = Matrix::Identity(n, n) - got.covariance;
  EXPECT_TRUE(is_close(Matrix(map * kernel), Matrix(2.0 * kernel), 1e-7));
}

// A = F F' of rank 3 in dimension 7: derivatives in F, which turns the range of A.
TEST(GaussianTransportGradient, LowRankAlongItsFactor) {
  Generator generator(12);
  const Vector zero = Vector::Zero(7);
  const Matrix factor = random_matrix(generator, 7, 3);
  const Matrix change = random_matrix(generator, 7, 3);
  const Matrix b = random_definite(generator, 7);
  // tr sqrt(F' B F), of full rank: the oracle takes no root of a singular matrix.
  const auto squared = [&](const Matrix& f) {
    const Matrix small = f.transpose() * b * f;
    const Vector values = symmetric_eigen(small).values;
    return f.squaredNorm() + b.trace() - 2.0 * values.cwiseSqrt().sum();
  };
  const double step = 3e-5;
  const double expected = (squared(factor + step * change) - squared(factor - step * change)) / (2.0 * step);
  const GaussianTransportGradient got =
      gaussian_transport_gradient(zero, factor * factor.transpose(), zero, b);
  EXPECT_TRUE(is_close(got.squared, squared(factor), 1e-12));
  const double value = 2.0 * (got.covariance * factor).cwiseProduct(change).sum();
  EXPECT_TRUE(is_close(value, expected, 1e-7, change.norm() * factor.norm()));
}

TEST(GaussianTransportGradient, NothingToMove) {
  const Vector zero = Vector::Zero(4);
  const Matrix none = Matrix::Zero(4, 4);
  const GaussianTransportGradient got = gaussian_transport_gradient(zero, none, zero, none);
  EXPECT_EQ(got.squared, 0.0);
  EXPECT_EQ(got.covariance, Matrix(Matrix::Identity(4, 4)));
  EXPECT_THROW(gaussian_transport_gradient(zero, none, Vector::Zero(3), none), InvalidArgument);
}

GaussianMixture random_mixture(Generator& generator, Index components) {
  Vector weights = random_matrix(generator, components, 1).cwiseAbs() + Vector::Constant(components, 0.2);
  weights /= weights.sum();
  std::vector<Gaussian> parts;
  for (Index i = 0; i < components; ++i) {
    const Vector mean = 2.0 * random_matrix(generator, 4, 1);
    parts.push_back({mean, Covariance::dense(random_definite(generator, 4))});
  }
  return {weights, parts};
}

GaussianMixture moved(const GaussianMixture& mixture, Index i, const Vector& shift, const Matrix& change) {
  std::vector<Gaussian> parts = mixture.components();
  Gaussian& part = parts[static_cast<std::size_t>(i)];
  part = {part.mean + shift, Covariance::dense(part.covariance.to_dense() + change)};
  return {mixture.weights(), parts};
}

TEST(MixtureTransportGradient, AgreesWithCentralDifferences) {
  Generator generator(13);
  for (const auto& [from, to] : {std::pair<Index, Index>{3, 2}, {1, 3}, {3, 1}, {1, 1}}) {
    const GaussianMixture a = random_mixture(generator, from);
    const GaussianMixture b = random_mixture(generator, to);
    const MixtureTransportGradient got = mixture_transport_gradient(a, b);
    EXPECT_TRUE(is_close(got.distance, mixture_transport(a, b).distance, 1e-6));  // rounded outward
    for (Index i = 0; i < from; ++i) {
      const Vector shift = random_matrix(generator, 4, 1);
      const Matrix change = random_symmetric(generator, 4);
      const double step = 3e-5;
      const double up = mixture_transport_gradient(moved(a, i, step * shift, step * change), b).distance;
      const double down = mixture_transport_gradient(moved(a, i, -step * shift, -step * change), b).distance;
      const auto k = static_cast<std::size_t>(i);
      const double value = got.means[k].dot(shift) + got.covariances[k].cwiseProduct(change).sum();
      EXPECT_TRUE(is_close(value, (up - down) / (2.0 * step), 1e-7, shift.norm() + change.norm()));
    }
  }
}

TEST(MixtureTransportGradient, NoDerivativeAtDistanceZero) {
  const GaussianMixture point(Gaussian{Vector::Ones(3), Covariance::zero(3)});
  const MixtureTransportGradient got = mixture_transport_gradient(point, point);
  EXPECT_EQ(got.distance, 0.0);
  EXPECT_EQ(got.means.front().norm(), 0.0);
  EXPECT_EQ(got.covariances.front().norm(), 0.0);
  const GaussianMixture other(Gaussian{Vector::Ones(2), Covariance::zero(2)});
  EXPECT_THROW(mixture_transport_gradient(point, other), InvalidArgument);
}

}  // namespace transport_gradient_test
}  // namespace mixcert
