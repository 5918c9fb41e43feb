// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Second moments of a dense layer's weights: what sensitivity metrics, the paper's constants
// and rounding bounds are made of, docs/theory/metrics.md (M.3).
#include <algorithm>

#include "core/overloaded.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {
namespace {

/// sum_i g_i Sigma_ii over rows i, Sigma_ii the covariance of row i of W (leading `in` of each
/// block of size `stride`).
Matrix row_block_sum(const Matrix& covariance, ConstVectorRef g, Index stride, Index in) {
  Matrix sum = Matrix::Zero(in, in);
  for (Index i = 0; i < g.size(); ++i) sum += g(i) * covariance.block(i * stride, i * stride, in, in);
  return sum;
}

Matrix eigenbasis_gram(const KroneckerEigenbasisWeights& law, ConstVectorRef g) {
  // E[X' (R'GR) X] is diagonal, since entries of X are independent.
  const Vector row_weight = (law.row_basis.cwiseAbs2().array().colwise() * g.array()).colwise().sum();
  const Vector diagonal = law.variance.transpose() * row_weight;
  return law.column_basis * diagonal.asDiagonal() * law.column_basis.transpose();
}

Matrix low_rank_gram(const LowRankWeights& law, ConstVectorRef g) {
  Matrix sum = Vector(law.variance.transpose() * g).asDiagonal();
  for (const Matrix& column : law.factor) sum += column.transpose() * g.asDiagonal() * column;
  return sum;
}

/// Diagonal, because a parameter has one place in a row (M.3); the bias has no part in it.
Vector shared_gram(const SharedWeights& law, ConstVectorRef g, Index in) {
  Vector diagonal = Vector::Zero(in);
  for (const auto& place : law.places) {
    if (place.column < in) diagonal(place.column) += g(place.row) * law.variance(place.parameter);
  }
  return diagonal;
}

double shared_row_variance(const SharedWeights& law, Index row, Index in) {
  const auto before = [](const SharedWeights::Place& place, Index i) { return place.row < i; };
  double sum = 0.0;
  for (auto at = std::lower_bound(law.places.begin(), law.places.end(), row, before);
       at != law.places.end() && at->row == row; ++at) {
    if (at->column < in) sum += law.variance(at->parameter);
  }
  return sum;
}

}  // namespace

Matrix DenseLayer::centred_gram(ConstVectorRef g) const {
  return std::visit(
      Overloaded{
          [&](const DeterministicWeights&) -> Matrix { return Matrix::Zero(inputs(), inputs()); },
          [&](const MeanFieldWeights& law) -> Matrix {
            return Vector(law.variance.transpose() * g).asDiagonal();
          },
          [&](const KroneckerWeights& law) -> Matrix {
            return law.row_covariance.diagonal().dot(g) * law.column_covariance;
          },
          [&](const KroneckerEigenbasisWeights& law) -> Matrix { return eigenbasis_gram(law, g); },
          [&](const LowRankWeights& law) -> Matrix { return low_rank_gram(law, g); },
          [&](const FullWeights& law) -> Matrix {
            return row_block_sum(law.covariance, g, inputs(), inputs());
          },
          [&](const JointWeights& law) -> Matrix {
            return row_block_sum(law.covariance, g, inputs() + 1, inputs());
          },
          [&](const SharedWeights& law) -> Matrix { return shared_gram(law, g, inputs()).asDiagonal(); }},
      weights_);
}

Matrix DenseLayer::second_moment_gram(ConstVectorRef g) const {
  const Matrix weighted = g.asDiagonal() * weight_mean_;
  return centred_gram(g) + weight_mean_.transpose() * weighted;
}

void DenseLayer::compute_variances() {
  row_variances_.resize(outputs());
  for (Index i = 0; i < outputs(); ++i) row_variances_(i) = row_variance(i);
  bias_variances_ =
      std::visit(Overloaded{[&](const DeterministicBias&) -> Vector { return Vector::Zero(outputs()); },
                            [](const IndependentBias& law) -> Vector { return law.variance; },
                            [](const CorrelatedBias& law) -> Vector { return law.covariance.diagonal(); }},
                 bias_);
  add_bias_of_weights();
}

void DenseLayer::add_bias_of_weights() {
  std::visit(Overloaded{[&](const JointWeights& law) {
                          const Index stride = inputs() + 1;
                          for (Index i = 0; i < outputs(); ++i)
                            bias_variances_(i) = law.covariance.diagonal()(i * stride + inputs());
                        },
                        [&](const SharedWeights& law) {
                          for (const auto& place : law.places) {
                            if (place.column == inputs())
                              bias_variances_(place.row) += law.variance(place.parameter);
                          }
                        },
                        [&](const LowRankWeights& law) {
                          if (law.bias_factor.size() > 0)
                            bias_variances_ += law.bias_factor.rowwise().squaredNorm();
                        },
                        [](const OneOf<DeterministicWeights, MeanFieldWeights, KroneckerWeights,
                                       KroneckerEigenbasisWeights, FullWeights> auto&) {}},
             weights_);
}

double DenseLayer::row_variance(Index i) const {
  return std::visit(
      Overloaded{[](const DeterministicWeights&) { return 0.0; },
                 [&](const MeanFieldWeights& law) { return law.variance.row(i).sum(); },
                 [&](const KroneckerWeights& law) {
                   return law.row_covariance(i, i) * law.column_covariance.trace();
                 },
                 [&](const KroneckerEigenbasisWeights& law) {
                   const Vector columns = law.column_basis.colwise().squaredNorm();
                   return law.row_basis.row(i).cwiseAbs2().dot(law.variance * columns);
                 },
                 [&](const LowRankWeights& law) {
                   double sum = law.variance.row(i).sum();
                   for (const Matrix& column : law.factor) sum += column.row(i).squaredNorm();
                   return sum;
                 },
                 [&](const FullWeights& law) {
                   return law.covariance.diagonal().segment(i * inputs(), inputs()).sum();
                 },
                 [&](const JointWeights& law) {
                   return law.covariance.diagonal().segment(i * (inputs() + 1), inputs()).sum();
                 },
                 [&](const SharedWeights& law) { return shared_row_variance(law, i, inputs()); }},
      weights_);
}

Matrix DenseLayer::weight_variances() const {
  // Entries of W in the order of full covariances: row by row, `stride` to a row.
  const auto from_diagonal = [&](const Vector& diagonal, Index stride) -> Matrix {
    return diagonal.reshaped(stride, outputs()).topRows(inputs()).transpose();
  };
  return std::visit(
      Overloaded{
          [&](const DeterministicWeights&) -> Matrix { return Matrix::Zero(outputs(), inputs()); },
          [](const MeanFieldWeights& law) -> Matrix { return law.variance; },
          [](const KroneckerWeights& law) -> Matrix {
            return law.row_covariance.diagonal() * law.column_covariance.diagonal().transpose();
          },
          [](const KroneckerEigenbasisWeights& law) -> Matrix {
            return law.row_basis.cwiseAbs2() * law.variance * law.column_basis.cwiseAbs2().transpose();
          },
          [](const LowRankWeights& law) -> Matrix {
            Matrix variance = law.variance;
            for (const Matrix& factor : law.factor) variance += factor.cwiseAbs2();
            return variance;
          },
          [&](const FullWeights& law) { return from_diagonal(law.covariance.diagonal(), inputs()); },
          [&](const JointWeights& law) { return from_diagonal(law.covariance.diagonal(), inputs() + 1); },
          [&](const SharedWeights& law) -> Matrix {
            Matrix variance = Matrix::Zero(outputs(), inputs());
            for (const auto& place : law.places) {
              if (place.column < inputs()) variance(place.row, place.column) += law.variance(place.parameter);
            }
            return variance;
          }},
      weights_);
}

Index DenseLayer::parameter_count() const {
  const Index means = weight_mean_.size() + bias_mean_.size();
  const Index weights =
      std::visit(Overloaded{[](const DeterministicWeights&) -> Index { return 0; },
                            [](const MeanFieldWeights& law) { return law.variance.size(); },
                            [](const KroneckerWeights& law) {
                              return law.row_covariance.size() + law.column_covariance.size();
                            },
                            [](const KroneckerEigenbasisWeights& law) {
                              return law.row_basis.size() + law.column_basis.size() + law.variance.size();
                            },
                            [](const LowRankWeights& law) {
                              return law.variance.size() * static_cast<Index>(1 + law.factor.size()) +
                                     law.bias_factor.size();
                            },
                            [](const FullWeights& law) { return law.covariance.size(); },
                            [](const JointWeights& law) { return law.covariance.size(); },
                            [](const SharedWeights& law) { return law.variance.size(); }},
                 weights_);
  const Index bias = std::visit(Overloaded{[](const DeterministicBias&) -> Index { return 0; },
                                           [](const IndependentBias& law) { return law.variance.size(); },
                                           [](const CorrelatedBias& law) { return law.covariance.size(); }},
                                bias_);
  return means + weights + bias;
}

}  // namespace mixcert
