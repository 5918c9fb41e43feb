// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a layer refuses: wrong shapes, numbers that are not finite, negative variances,
// matrices that are not covariances; each message names layer, field and entry.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/network/dense_layer.h"
#include "mixture/symmetric_eigen.h"
#include "support/matchers.h"

namespace mixcert {
namespace layer_validation_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A [2, 3] layer whose parts a case may break.
struct Parts {
  Matrix weight_mean = Matrix::Ones(2, 3);
  Vector bias_mean = Vector::Zero(2);
  WeightCovariance weights = DeterministicWeights{};
  BiasCovariance bias = DeterministicBias{};
};

Matrix with(Matrix matrix, Index i, Index j, double value) {
  matrix(i, j) = value;
  return matrix;
}

Matrix indefinite(Index size) {
  Matrix matrix = Matrix::Identity(size, size);
  matrix(0, 1) = matrix(1, 0) = 2.0;
  return matrix;
}

struct BadLayer {
  std::string name;
  std::function<void(Parts&)> damage;
  std::vector<std::string> message;  // all of these must be in it
};

std::vector<BadLayer> bad_layers() {
  const Matrix v = Matrix::Ones(2, 3);
  const Matrix i2 = Matrix::Identity(2, 2);
  const Matrix i3 = Matrix::Identity(3, 3);
  const Matrix i6 = Matrix::Identity(6, 6);
  const Matrix i8 = Matrix::Identity(8, 8);
  return {
      {"NoRows", [](Parts& p) { p.weight_mean.resize(0, 3); }, {"weight.mean"}},
      {"NanMean", [](Parts& p) { p.weight_mean(1, 2) = kNan; }, {"weight.mean", "[1, 2]", "finite", "nan"}},
      {"InfiniteBias", [](Parts& p) { p.bias_mean(1) = kInfinity; }, {"bias.mean", "[1]", "inf"}},
      {"ShortBias", [](Parts& p) { p.bias_mean.resize(1); }, {"bias.mean", "[2, 1]", "[1, 1]"}},
      {"VarianceShape",
       [](Parts& p) { p.weights = MeanFieldWeights{Matrix::Ones(3, 2)}; },
       {"weight.variance", "[2, 3]", "[3, 2]"}},
      {"NegativeVariance",
       [=](Parts& p) { p.weights = MeanFieldWeights{with(v, 0, 1, -0.5)}; },
       {"weight.variance", "[0, 1]", "-0.5"}},
      {"NanVariance",
       [=](Parts& p) { p.weights = MeanFieldWeights{with(v, 1, 0, kNan)}; },
       {"weight.variance", "[1, 0]", "nan"}},
      {"RowShape",
       [=](Parts& p) {
         p.weights = KroneckerWeights{i3, i3};
       },
       {"weight.row_covariance", "[3, 3]"}},
      {"ColumnIndefinite",
       [=](Parts& p) {
         p.weights = KroneckerWeights{i2, indefinite(3)};
       },
       {"weight.column_covariance", "positive semidefinite", "eigenvalue -"}},
      {"RowAsymmetric",
       [=](Parts& p) {
         p.weights = KroneckerWeights{with(i2, 0, 1, 0.5), i3};
       },
       {"weight.row_covariance", "symmetric"}},
      {"BasisNotFinite",
       [=](Parts& p) {
         p.weights = KroneckerEigenbasisWeights{i2, with(i3, 2, 0, kNan), v};
       },
       {"weight.column_basis", "[2, 0]"}},
      {"BasisShape",
       [=](Parts& p) {
         p.weights = KroneckerEigenbasisWeights{i3, i3, v};
       },
       {"weight.row_basis", "[2, 2]", "[3, 3]"}},
      {"BasisVariance",
       [=](Parts& p) {
         p.weights = KroneckerEigenbasisWeights{i2, i3, with(v, 1, 1, -1.0)};
       },
       {"weight.variance", "[1, 1]"}},
      {"FactorShape",
       [=](Parts& p) {
         p.weights = LowRankWeights{v, {v, Matrix::Ones(2, 2)}};
       },
       {"weight.factor", "[2, 3]", "[2, 2]"}},
      {"FactorNotFinite",
       [=](Parts& p) {
         p.weights = LowRankWeights{v, {v, with(v, 0, 2, kInfinity)}};
       },
       {"weight.factor", "[0, 2]", "inf"}},
      {"FullShape",
       [=](Parts& p) { p.weights = FullWeights{i8}; },
       {"weight.covariance", "[6, 6]", "[8, 8]"}},
      {"FullIndefinite", [](Parts& p) { p.weights = FullWeights{indefinite(6)}; }, {"weight.covariance"}},
      {"FullNegative", [=](Parts& p) { p.weights = FullWeights{-i6}; }, {"weight.covariance"}},
      {"FullHollow",
       [](Parts& p) { p.weights = FullWeights{with(with(Matrix::Zero(6, 6), 0, 1, 1.0), 1, 0, 1.0)}; },
       {"weight.covariance", "positive semidefinite"}},
      {"FullNan",
       [=](Parts& p) { p.weights = FullWeights{with(i6, 4, 3, kNan)}; },
       {"weight.covariance", "[4, 3]"}},
      {"JointShape", [=](Parts& p) { p.weights = JointWeights{i6}; }, {"covariance", "[8, 8]", "[6, 6]"}},
      {"JointTwice",
       [=](Parts& p) {
         p.weights = JointWeights{i8};
         p.bias = IndependentBias{Vector::Ones(2)};
       },
       {"bias", "joint"}},
      {"BiasVarianceShape",
       [](Parts& p) { p.bias = IndependentBias{Vector::Ones(3)}; },
       {"bias.variance", "[2, 1]", "[3, 1]"}},
      {"BiasNegative",
       [](Parts& p) { p.bias = IndependentBias{(Vector(2) << 1.0, -2.0).finished()}; },
       {"bias.variance", "[1]", "-2"}},
      {"BiasIndefinite", [](Parts& p) { p.bias = CorrelatedBias{indefinite(2)}; }, {"bias.covariance"}},
      {"BiasShape", [=](Parts& p) { p.bias = CorrelatedBias{i3}; }, {"bias.covariance", "[2, 2]", "[3, 3]"}},
  };
}

DenseLayer make(const Parts& p) { return {"hidden", p.weight_mean, p.bias_mean, p.weights, p.bias}; }

class Refused : public ::testing::TestWithParam<BadLayer> {};

TEST_P(Refused, WithLayerFieldAndEntry) {
  Parts parts;
  ASSERT_NO_THROW(make(parts));
  GetParam().damage(parts);
  try {
    make(parts);
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("layer 'hidden'"), std::string::npos) << what;
    for (const std::string& text : GetParam().message) EXPECT_NE(what.find(text), std::string::npos) << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, Refused, ::testing::ValuesIn(bad_layers()),
                         [](const auto& tested) { return tested.param.name; });

/// Q diag(values) Q' for a fixed rotation Q.
Matrix with_eigenvalues(const Vector& values) {
  const Index n = values.size();
  const Matrix symmetric =
      Matrix::NullaryExpr(n, n, [](Index i, Index j) { return 1.0 / static_cast<double>(1 + i + j); });
  const Matrix q = symmetric_eigen(symmetric).vectors;
  return q * values.asDiagonal() * q.transpose();
}

TEST(LayerValidation, ClipsRoundingOfSinglePrecisionButNothingMore) {
  Parts parts;
  const Matrix nearly = with_eigenvalues((Vector(6) << 1.0, 1.0, 0.5, 0.1, 0.0, -1e-7).finished());
  parts.weights = FullWeights{nearly};
  const DenseLayer layer = make(parts);
  const Matrix& kept = std::get<FullWeights>(layer.weights()).covariance;
  EXPECT_TRUE(testing::is_positive_semidefinite(kept));
  EXPECT_LE((kept - nearly).norm(), 2e-7);
  parts.weights = FullWeights{with_eigenvalues((Vector(6) << 1.0, 1.0, 0.5, 0.1, 0.0, -1e-5).finished())};
  EXPECT_THROW(make(parts), InvalidArgument);
}

TEST(LayerValidation, AcceptsDegenerateCovariances) {
  Parts parts;
  for (const Matrix& covariance :
       {Matrix(Matrix::Zero(6, 6)), Matrix(Matrix::Ones(6, 6)), Matrix(1e-300 * Matrix::Identity(6, 6)),
        Matrix(1e200 * Matrix::Ones(6, 6))}) {
    parts.weights = FullWeights{covariance};
    EXPECT_NO_THROW(make(parts));
  }
  parts.weights = MeanFieldWeights{Matrix::Zero(2, 3)};
  EXPECT_NO_THROW(make(parts));
  parts.weights = LowRankWeights{Matrix::Ones(2, 3), {}};
  EXPECT_NO_THROW(make(parts));
}

}  // namespace layer_validation_test
}  // namespace mixcert
