// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (R.8): covariances with factors are written out, stay positive semidefinite, and move by no more than is
// said.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "certificate/rounding_terms.h"
#include "mixcert/certify/certify.h"

namespace mixcert {
namespace settled_output_test {

using Long = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

TEST(SettledOutput, IsNoLessThanTheProductAndHardlyMore) {
  std::srand(3);
  for (const Index rank : {1, 3, 40}) {
    const Index n = 6;
    const Matrix factor = Matrix::Random(n, rank) * 1e3;
    const Vector noise = Vector::Random(n).cwiseAbs() * 1e-9;
    GaussianMixture mixture(Gaussian{Vector::Zero(n), Covariance::diagonal(noise).plus_low_rank(factor)});
    const double moved = settle_covariances(mixture);
    const Covariance& stored = mixture.component(0).covariance;
    EXPECT_EQ(stored.rank(), 0);
    const Long f = factor.cast<long double>();
    Long exact = f * f.transpose();
    exact.diagonal() += noise.cast<long double>();
    const Long excess = stored.to_dense().cast<long double>() - exact;
    const Eigen::SelfAdjointEigenSolver<Long> solver(excess);
    EXPECT_GE(static_cast<double>(solver.eigenvalues().minCoeff()), 0.0);
    EXPECT_LE(static_cast<double>(excess.trace()), moved * moved);
    EXPECT_LE(moved, 1e-6 * factor.norm());
  }
}

TEST(SettledOutput, LeavesOthersAlone) {
  GaussianMixture mixture(Gaussian{Vector::Ones(2), Covariance::diagonal(Vector::Constant(2, 0.3))});
  EXPECT_EQ(settle_covariances(mixture), 0.0);
  EXPECT_TRUE(mixture.component(0).covariance.is_diagonal());
}

/// More outputs than neurons: the moment method keeps the covariance as a diagonal and a factor.
TEST(SettledOutput, ResultsHoldWhatIsStored) {
  std::vector<DenseLayer> layers;
  layers.emplace_back("0", Matrix::Ones(2, 1), Vector::Zero(2), MeanFieldWeights{Matrix::Constant(2, 1, 0.1)},
                      DeterministicBias{});
  layers.emplace_back("1", Matrix::Ones(5, 2), Vector::Zero(5), MeanFieldWeights{Matrix::Constant(5, 2, 0.1)},
                      DeterministicBias{});
  const Network network(std::move(layers), {ActivationMap(Activation(ActivationFunction::Identity)),
                                            ActivationMap(Activation(ActivationFunction::Identity))});
  Options options;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.threads = 1;
  const Result result = certify(network, Matrix::Ones(1, 1), options).front();
  EXPECT_EQ(result.mixture.component(0).covariance.rank(), 0);
  EXPECT_GE(result.w2.value, 0.0);
}

}  // namespace settled_output_test
}  // namespace mixcert
