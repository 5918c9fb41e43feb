// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The noise that random weights make of random activations, docs/theory/network.md (N.4), (N.5), family by
// family.
#include <utility>

#include "core/overloaded.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {
namespace {

/// <Sigma_ik, A> for every pair of rows, Sigma_ik the block of rows i and k.
Matrix block_products(const Matrix& covariance, const Matrix& second, Index out) {
  const Index in = second.rows();
  Matrix noise(out, out);
  for (Index i = 0; i < out; ++i) {
    for (Index k = 0; k <= i; ++k) {
      noise(i, k) = noise(k, i) = covariance.block(i * in, k * in, in, in).cwiseProduct(second).sum();
    }
  }
  return noise;
}

/// E of (a, 1) (a, 1)'.
Matrix augmented(const Vector& mean, const Matrix& second) {
  const Index n = mean.size();
  Matrix whole(n + 1, n + 1);
  whole << second, mean, mean.transpose(), 1.0;
  return whole;
}

/// sum_s v_s A_jl over pairs of places (i, j), (k, l) of parameter s. Places are sorted by row.
Matrix shared_noise(const SharedWeights& law, const Matrix& second, Index out) {
  std::vector<std::vector<const SharedWeights::Place*>> of(static_cast<std::size_t>(law.variance.size()));
  for (const SharedWeights::Place& place : law.places)
    of[static_cast<std::size_t>(place.parameter)].push_back(&place);
  Matrix noise = Matrix::Zero(out, out);
  for (std::size_t s = 0; s < of.size(); ++s) {
    const double variance = law.variance(static_cast<Index>(s));
    for (const SharedWeights::Place* first : of[s]) {
      for (const SharedWeights::Place* other : of[s])
        noise(first->row, other->row) += variance * second(first->column, other->column);
    }
  }
  return noise;
}

/// diag(V diag A) + sum_s E (F_s a + f_s) (F_s a + f_s)', f_s the bias' column of the factor.
Matrix low_rank_noise(const LowRankWeights& law, const Vector& mean, const Matrix& second) {
  Matrix sum = Vector(law.variance * second.diagonal()).asDiagonal();
  for (const Matrix& column : law.factor) sum += column * second * column.transpose();
  if (law.bias_factor.size() == 0) return sum;
  Matrix crossed = Matrix::Zero(sum.rows(), sum.cols());
  for (std::size_t s = 0; s < law.factor.size(); ++s) {
    crossed += (law.factor[s] * mean) * law.bias_factor.col(static_cast<Index>(s)).transpose();
  }
  return sum + crossed + crossed.transpose() + law.bias_factor * law.bias_factor.transpose();
}

/// The covariance of a row of weights with its bias.
Vector low_rank_cross(const LowRankWeights& law, Index inputs) {
  Vector cross = Vector::Zero(inputs);
  for (Index s = 0; s < law.bias_factor.cols(); ++s) {
    cross += law.bias_factor(0, s) * law.factor[static_cast<std::size_t>(s)].row(0).transpose();
  }
  return cross;
}

/// The covariance of the one row of weights, alone or with the bias behind them.
std::vector<ScalarNoise> one_row(const Matrix& form, const Vector& cross, double least) {
  return {{form, cross, least, Vector::Ones(1)}};
}

std::vector<ScalarNoise> eigenbasis_noises(const KroneckerEigenbasisWeights& law) {
  std::vector<ScalarNoise> noises;
  for (Index a = 0; a < law.row_basis.cols(); ++a) {
    Matrix form = law.column_basis * law.variance.row(a).asDiagonal() * law.column_basis.transpose();
    noises.push_back(
        {0.5 * (form + form.transpose()), Vector::Zero(form.rows()), 0.0, law.row_basis.col(a).cwiseAbs2()});
  }
  return noises;
}

}  // namespace

Matrix DenseLayer::expected_noise(const Vector& mean, const Matrix& covariance) const {
  const Matrix second = covariance + mean * mean.transpose();
  const Index out = outputs();
  Matrix noise = std::visit(
      Overloaded{
          [&](const DeterministicWeights&) -> Matrix { return Matrix::Zero(out, out); },
          [&](const MeanFieldWeights& law) -> Matrix {
            return Vector(law.variance * second.diagonal()).asDiagonal();
          },
          [&](const KroneckerWeights& law) -> Matrix {
            return law.column_covariance.cwiseProduct(second).sum() * law.row_covariance;
          },
          [&](const KroneckerEigenbasisWeights& law) -> Matrix {
            const Matrix carried = second * law.column_basis;
            const Vector squares = law.column_basis.cwiseProduct(carried).colwise().sum();
            return law.row_basis * Vector(law.variance * squares).asDiagonal() * law.row_basis.transpose();
          },
          [&](const LowRankWeights& law) -> Matrix { return low_rank_noise(law, mean, second); },
          [&](const FullWeights& law) -> Matrix { return block_products(law.covariance, second, out); },
          [&](const JointWeights& law) -> Matrix {
            return block_products(law.covariance, augmented(mean, second), out);
          },
          [&](const SharedWeights& law) -> Matrix {
            return shared_noise(law, augmented(mean, second), out);
          }},
      weights_);
  std::visit(Overloaded{[](const DeterministicBias&) {},
                        [&](const IndependentBias& law) { noise.diagonal() += law.variance; },
                        [&](const CorrelatedBias& law) { noise += law.covariance; }},
             bias_);
  return 0.5 * (noise + noise.transpose());
}

std::vector<ScalarNoise> DenseLayer::scalar_noises() const {
  const Index in = inputs();
  const bool is_one = outputs() == 1;
  const Vector none = Vector::Zero(in);
  // The bias of a single output is noise of the same output.
  const double least = is_one ? bias_variances_(0) : 0.0;
  return std::visit(
      Overloaded{[](const OneOf<DeterministicWeights, MeanFieldWeights, SharedWeights> auto&)
                     -> std::vector<ScalarNoise> { return {}; },
                 [&](const KroneckerWeights& law) -> std::vector<ScalarNoise> {
                   if (is_one) return one_row(law.row_covariance(0, 0) * law.column_covariance, none, least);
                   return {{law.column_covariance, none, 0.0, law.row_covariance.diagonal()}};
                 },
                 [&](const KroneckerEigenbasisWeights& law) -> std::vector<ScalarNoise> {
                   if (!is_one) return eigenbasis_noises(law);
                   return one_row(centred_gram(Vector::Ones(1)), none, least);
                 },
                 [&](const LowRankWeights& law) -> std::vector<ScalarNoise> {
                   if (!is_one) return {};
                   return one_row(centred_gram(Vector::Ones(1)), low_rank_cross(law, in), least);
                 },
                 [&](const FullWeights&) -> std::vector<ScalarNoise> {
                   if (!is_one) return {};
                   return one_row(centred_gram(Vector::Ones(1)), none, least);
                 },
                 [&](const JointWeights& law) -> std::vector<ScalarNoise> {
                   if (!is_one) return {};
                   return one_row(law.covariance.topLeftCorner(in, in), law.covariance.col(in).head(in),
                                  least);
                 }},
      weights_);
}

}  // namespace mixcert
