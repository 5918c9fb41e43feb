// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The noise of several inputs jointly: its cost against simulated Bures distances, inverses and canonical
// correlations against dense linear algebra.
#include "methods/joint/joint_noise.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "methods/joint/cross_moments.h"
#include "mixture/symmetric_eigen.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace joint_noise_test {

using F = ActivationFunction;

Matrix root_of(const Matrix& a) {
  const SymmetricEigen solver = symmetric_eigen(a);
  return solver.vectors * solver.values.cwiseMax(0.0).cwiseSqrt().asDiagonal() * solver.vectors.transpose();
}

/// W2^2 of N(0, a) and N(0, b).
double bures_square(const Matrix& a, const Matrix& b) {
  const Matrix root = root_of(b);
  return a.trace() + b.trace() - 2.0 * root_of(root * a * root).trace();
}

Matrix random_covariance(Generator& generator, Index size) {
  const Matrix factor = random_matrix(generator, size, size);
  return factor * factor.transpose() / static_cast<double>(size) + 0.05 * Matrix::Identity(size, size);
}

struct NoiseCase {
  std::string name;
  F function;
  Index neurons, inputs;
  bool dependent, repeated;
  double scale;
};

void PrintTo(const NoiseCase& tested, std::ostream* out) { *out << tested.name; }

class NoiseCost : public ::testing::TestWithParam<NoiseCase> {};

TEST_P(NoiseCost, IsNoLessThanTheSimulatedDistance) {
  const NoiseCase& c = GetParam();
  Generator generator = make_generator(9, Stream::Example, static_cast<std::uint64_t>(c.neurons));
  const Index size = c.neurons * c.inputs;
  Gaussian law;
  law.mean = random_matrix(generator, size, 1);
  if (c.dependent) {
    law.covariance = Covariance::dense(c.scale * random_covariance(generator, size));
  } else {
    Matrix blocks(size, c.inputs);
    for (Index j = 0; j < c.neurons; ++j) {
      blocks.middleRows(j * c.inputs, c.inputs) =
          c.repeated ? Matrix(Matrix::Constant(c.inputs, c.inputs, c.scale))
                     : Matrix(c.scale * random_covariance(generator, c.inputs));
      if (c.repeated) law.mean.segment(j * c.inputs, c.inputs).setConstant(law.mean(j * c.inputs));
    }
    law.covariance = Covariance::block_diagonal(blocks);
  }
  const Activation f(c.function, 0.1);
  const Matrix v = random_matrix(generator, 2, c.neurons).cwiseAbs() / static_cast<double>(c.neurons);
  const Vector beta = Vector::Constant(2, 0.01);
  const DenseLayer layer("layer", Matrix::Zero(2, c.neurons), Vector::Zero(2), MeanFieldWeights{v},
                         IndependentBias{beta});
  const JointNoise noise = joint_noise(layer, law, cross_moments(f, law, c.inputs));
  const Matrix root = root_of(law.covariance.to_dense());
  const Index samples = 2000;
  for (Index l = 0; l < 2; ++l) {
    const Matrix t = noise.blocks.middleRows(l * c.inputs, c.inputs);
    double sum = 0.0;
    double squares = 0.0;
    Matrix mean = Matrix::Zero(c.inputs, c.inputs);
    for (Index i = 0; i < samples; ++i) {
      const Vector a = f.apply(law.mean + root * random_matrix(generator, size, 1));
      const Eigen::Map<const Matrix> by_input(a.data(), c.inputs, c.neurons);
      Matrix s = by_input * v.row(l).asDiagonal() * by_input.transpose();
      s.array() += beta(l);
      const double distance = bures_square(s, t);
      sum += distance;
      squares += distance * distance;
      mean += s / static_cast<double>(samples);
    }
    const double n = static_cast<double>(samples);
    const double error = 5.0 * std::sqrt(squares / n / n);
    EXPECT_GE(noise.cost(l), sum / n - error);
    EXPECT_GT(noise.cost(l), 0.0);
    // T is E S but for the ridge.
    EXPECT_LE((t - mean).norm(), 0.25 * t.trace() + 5.0 * t.trace() / std::sqrt(n));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, NoiseCost,
                         ::testing::Values(NoiseCase{"relu", F::Relu, 30, 3, false, false, 1.0},
                                           NoiseCase{"tanh", F::Tanh, 30, 3, false, false, 1.0},
                                           NoiseCase{"gelu_narrow", F::Gelu, 3, 4, false, false, 0.5},
                                           NoiseCase{"softplus_small", F::Softplus, 20, 3, false, false,
                                                     0.01},
                                           NoiseCase{"elu", F::Elu, 20, 3, false, false, 0.3},
                                           NoiseCase{"identity", F::Identity, 20, 2, false, false, 1.0},
                                           NoiseCase{"relu_repeated", F::Relu, 20, 3, false, true, 1.0},
                                           NoiseCase{"tanh_repeated", F::Tanh, 5, 2, false, true, 0.5},
                                           NoiseCase{"relu_dependent", F::Relu, 8, 3, true, false, 1.0},
                                           NoiseCase{"tanh_dependent", F::Tanh, 10, 2, true, false, 0.5}),
                         [](const auto& tested) { return tested.param.name; });

TEST(JointNoise, ConstantNoiseCostsNothing) {
  const Gaussian law{Vector::Zero(4), Covariance::block_diagonal(Matrix::Constant(4, 2, 1.0))};
  const CrossMoments moments = cross_moments(Activation(F::Relu), law, 2);
  const DenseLayer sure("layer", Matrix::Ones(3, 2), Vector::Zero(3), DeterministicWeights{},
                        IndependentBias{Vector::Constant(3, 0.5)});
  const JointNoise noise = joint_noise(sure, law, moments);
  EXPECT_EQ(noise.cost, Vector::Zero(3));
  EXPECT_EQ(noise.blocks, Matrix::Constant(6, 2, 0.5));
}

TEST(ProvenInverse, IsNoLessThanTheInverse) {
  Generator generator = make_generator(4, Stream::Example, 0);
  for (const double ridge : {1.0, 1e-3, 1e-6}) {
    for (const Index n : {1, 5, 20}) {
      const Vector direction = random_matrix(generator, n, 1);
      Matrix t = direction * direction.transpose();
      t.diagonal().array() += ridge;
      const ProvenInverse inverse = proven_inverse(t, 0.5 * ridge);
      ASSERT_TRUE(inverse.proven);
      EXPECT_LE(inverse.factor, 1.1);
      using Long = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
      const Long exact = t.cast<long double>().inverse();
      const Long root = inverse.root.cast<long double>();
      const Long gap = static_cast<long double>(inverse.factor) * (root.transpose() * root) - exact;
      const double least = static_cast<double>(Eigen::SelfAdjointEigenSolver<Long>(gap).eigenvalues()(0));
      EXPECT_GE(least, -1e-12 / ridge);
    }
  }
}

TEST(ProvenInverse, RefusesSingularAndIndefiniteMatrices) {
  EXPECT_FALSE(proven_inverse(Matrix::Ones(3, 3), 1e-18).proven);
  EXPECT_FALSE(proven_inverse(Matrix::Ones(3, 3), 1e-3).proven);
  EXPECT_FALSE(proven_inverse(Matrix::Identity(3, 3), -1.0).proven);
  Matrix indefinite = Matrix::Identity(2, 2);
  indefinite(0, 1) = indefinite(1, 0) = 2.0;
  EXPECT_FALSE(proven_inverse(indefinite, 0.1).proven);
  EXPECT_FALSE(proven_inverse(Matrix::Constant(2, 2, INFINITY), 0.1).proven);
}

TEST(NeuronCorrelation, IsNoLessThanTheCanonicalOne) {
  Generator generator = make_generator(5, Stream::Example, 0);
  const Index inputs = 3;
  const Index neurons = 4;
  const Matrix c = random_covariance(generator, inputs * neurons);
  const Matrix rho = neuron_correlation(Covariance::dense(c), inputs);
  ASSERT_EQ(rho.rows(), neurons);
  for (Index i = 0; i < neurons; ++i) {
    EXPECT_EQ(rho(i, i), 1.0);
    for (Index j = 0; j < i; ++j) {
      const auto block = [&](Index a, Index b) {
        return Matrix(c.block(a * inputs, b * inputs, inputs, inputs));
      };
      const Matrix whitened = root_of(block(i, i)).inverse() * block(i, j) * root_of(block(j, j)).inverse();
      const double exact = singular_values(whitened).values(0);
      EXPECT_GE(rho(i, j), exact * (1.0 - 1e-12));
      EXPECT_LE(rho(i, j), std::min(1.0, 1.2 * exact));
    }
  }
  EXPECT_EQ(neuron_correlation(Covariance::block_diagonal(Matrix::Ones(6, 3)), 3).size(), 0);
  // Singular blocks: nothing is known.
  EXPECT_EQ(neuron_correlation(Covariance::dense(Matrix::Ones(4, 4)), 2), Matrix::Ones(2, 2));
}

TEST(CrossMoments, NeuronsWithOneLawAndDifferentFunctionsDiffer) {
  const ActivationMap map(Activation(ActivationFunction::Relu), {false, true});
  Matrix blocks(4, 2);
  blocks << 1.0, 0.5, 0.5, 1.0, 1.0, 0.5, 0.5, 1.0;
  const Gaussian law{Vector::Zero(4), Covariance::block_diagonal(blocks)};
  const CrossMoments moments = cross_moments(map, law, 2);
  EXPECT_NEAR(moments.mean(0, 0), 1.0 / std::sqrt(2.0 * std::acos(-1.0)), 1e-12);
  EXPECT_NEAR(moments.mean(0, 1), 0.0, 1e-12);
  EXPECT_NEAR(moments.block(1)(0, 1), 0.5, 1e-12);
}

}  // namespace joint_noise_test
}  // namespace mixcert::testing
