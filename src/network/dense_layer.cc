// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Pushing points through a dense layer, docs/theory/network.md (N.2): for a point with
// activations P (inputs x neurons) the outputs W p_d + b, d = 1..D, are jointly Gaussian with
// covariance  Cov[(i,d),(k,e)] = sum_jl P_dj P_el Cov(W_ij, W_kl) + Cov(b_i, b_k).
#include "mixcert/network/dense_layer.h"

#include <cmath>
#include <map>
#include <utility>

#include "core/column_product.h"
#include "core/overloaded.h"
#include "mixcert/core/error.h"
#include "network/layer_validation.h"

namespace mixcert {
namespace {

/// Activations of one point as a matrix with one row per input.
using PointMap = Eigen::Map<const Matrix>;

/// kron(rows, columns) for the ordering neuron * D + input.
Matrix kronecker(const Matrix& rows, const Matrix& columns) {
  const Index d = columns.rows();
  Matrix result(rows.rows() * d, rows.cols() * d);
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index k = 0; k < rows.cols(); ++k) result.block(i * d, k * d, d, d) = rows(i, k) * columns;
  }
  return result;
}

/// One block P diag(variance row) P' per neuron.
Matrix mean_field_blocks(const Matrix& variance, const PointMap& p) {
  const Index d = p.rows();
  Matrix stacked(variance.rows() * d, d);
  Matrix weighted(d, p.cols());
  for (Index i = 0; i < variance.rows(); ++i) {
    // Neurons of a prior are often alike.
    if (i > 0 && variance.row(i) == variance.row(i - 1)) {
      stacked.middleRows(i * d, d) = stacked.middleRows((i - 1) * d, d);
      continue;
    }
    weighted = p.array().rowwise() * variance.row(i).array();
    stacked.middleRows(i * d, d).noalias() = weighted * p.transpose();
  }
  return stacked;
}

Matrix eigenbasis_covariance(const KroneckerEigenbasisWeights& law, const PointMap& p) {
  const Matrix rotated = p * law.column_basis;
  const Index d = p.rows();
  const Index out = law.row_basis.rows();
  const Matrix blocks = mean_field_blocks(law.variance, PointMap(rotated.data(), d, rotated.cols()));
  Matrix result = Matrix::Zero(out * d, out * d);
  for (Index a = 0; a < law.row_basis.cols(); ++a) {
    const Vector column = law.row_basis.col(a);
    result += kronecker(column * column.transpose(), blocks.middleRows(a * d, d));
  }
  return result;
}

/// P Sigma_ik P' for every pair of neurons, Sigma_ik the block of rows i and k.
Matrix full_covariance(const Matrix& covariance, const Matrix& p, Index out) {
  const Index d = p.rows();
  const Index in = p.cols();
  Matrix result(out * d, out * d);
  for (Index i = 0; i < out; ++i) {
    for (Index k = 0; k <= i; ++k) {
      const Matrix block = p * covariance.block(i * in, k * in, in, in) * p.transpose();
      result.block(i * d, k * d, d, d) = block;
      result.block(k * d, i * d, d, d) = block.transpose();
    }
  }
  return result;
}

/// F diag(variance) F' with F_(i,d),s the activation (j, d) at the place (i, j) of parameter s, one at places
/// of the bias: one block per group of rows (N.3).
Covariance shared_covariance(const SharedWeights& law, const PointMap& p, Index out) {
  const Index d = p.rows();
  const Index group_rows = law.rows_per_group;
  Matrix blocks(out * d, group_rows * d);
  auto place = law.places.begin();
  for (Index first = 0; first < out; first += group_rows) {
    std::map<Index, Index> column_of;  // parameters of this group
    const auto begin = place;
    for (; place != law.places.end() && place->row < first + group_rows; ++place) {
      column_of.try_emplace(place->parameter, static_cast<Index>(column_of.size()));
    }
    Matrix factor = Matrix::Zero(group_rows * d, static_cast<Index>(column_of.size()));
    for (auto at = begin; at != place; ++at) {
      const double deviation = std::sqrt(law.variance(at->parameter));
      auto entries = factor.block((at->row - first) * d, column_of[at->parameter], d, 1);
      if (at->column < p.cols()) {
        entries += deviation * p.col(at->column);
      } else {
        entries.array() += deviation;
      }
    }
    blocks.middleRows(first * d, group_rows * d).noalias() = factor * factor.transpose();
  }
  return Covariance::block_diagonal(std::move(blocks));
}

Covariance weight_covariance(const WeightCovariance& weights, const PointMap& p, Index out) {
  const Index d = p.rows();
  return std::visit(
      Overloaded{
          [&](const DeterministicWeights&) { return Covariance::block_diagonal(Matrix::Zero(out * d, d)); },
          [&](const MeanFieldWeights& law) {
            return Covariance::block_diagonal(mean_field_blocks(law.variance, p));
          },
          [&](const KroneckerWeights& law) {
            return Covariance::dense(
                kronecker(law.row_covariance, p * law.column_covariance * p.transpose()));
          },
          [&](const KroneckerEigenbasisWeights& law) {
            return Covariance::dense(eigenbasis_covariance(law, p));
          },
          [&](const LowRankWeights& law) {
            Matrix factor(out * d, static_cast<Index>(law.factor.size()));
            for (Index s = 0; s < factor.cols(); ++s) {
              Eigen::Map<Matrix> column(factor.col(s).data(), d, out);
              column.noalias() = p * law.factor[static_cast<std::size_t>(s)].transpose();
              if (law.bias_factor.size() > 0) column.rowwise() += law.bias_factor.col(s).transpose();
            }
            return Covariance::block_diagonal(mean_field_blocks(law.variance, p)).plus_low_rank(factor);
          },
          [&](const FullWeights& law) { return Covariance::dense(full_covariance(law.covariance, p, out)); },
          [&](const JointWeights& law) {
            Matrix augmented(d, p.cols() + 1);
            augmented << p, Vector::Ones(d);
            return Covariance::dense(full_covariance(law.covariance, augmented, out));
          },
          [&](const SharedWeights& law) { return shared_covariance(law, p, out); }},
      weights);
}

/// Var(b_i) for all pairs of inputs of neuron i, as blocks of `block_size` rows and columns.
Matrix bias_blocks(const Vector& variance, Index d, Index block_size) {
  Matrix blocks = Matrix::Zero(variance.size() * d, block_size);
  for (Index i = 0; i < variance.size(); ++i) {
    blocks.block(i * d, (i * d) % block_size, d, d).setConstant(variance(i));
  }
  return blocks;
}

/// Adds Cov(b_i, b_k), the same for all pairs of inputs.
Covariance plus_bias(const Covariance& covariance, const BiasCovariance& bias, Index d) {
  return std::visit(
      Overloaded{[&](const DeterministicBias&) { return covariance; },
                 [&](const IndependentBias& law) {
                   const Index out = law.variance.size();
                   if (covariance.block_size() == d) {
                     Matrix blocks = covariance.stacked_blocks();
                     for (Index i = 0; i < out; ++i) blocks.middleRows(i * d, d).array() += law.variance(i);
                     return Covariance::block_diagonal(std::move(blocks)).plus_low_rank(covariance.factor());
                   }
                   return Covariance::block_diagonal(covariance.stacked_blocks() +
                                                     bias_blocks(law.variance, d, covariance.block_size()))
                       .plus_low_rank(covariance.factor());
                 },
                 [&](const CorrelatedBias& law) {
                   return Covariance::dense(covariance.to_dense() +
                                            kronecker(law.covariance, Matrix::Ones(d, d)));
                 }},
      bias);
}

}  // namespace

DenseLayer::DenseLayer(std::string name, Matrix weight_mean, Vector bias_mean, WeightCovariance weights,
                       BiasCovariance bias)
    : name_(std::move(name)),
      weight_mean_(std::move(weight_mean)),
      bias_mean_(std::move(bias_mean)),
      weights_(std::move(weights)),
      bias_(std::move(bias)) {
  validate_law(name_, weight_mean_, bias_mean_, weights_, bias_);
  row_norms_ = weight_mean_.rowwise().norm();
  compute_variances();
}

bool DenseLayer::is_deterministic() const {
  return mixcert::is_deterministic(weights_) && mixcert::is_deterministic(bias_);
}

bool DenseLayer::has_random_weights() const { return !mixcert::is_deterministic(weights_); }

bool DenseLayer::has_independent_outputs() const {
  const auto fits = [](const auto& law) {
    return mixcert::is_deterministic(law) || independent_variances(law) != nullptr;
  };
  return fits(weights_) && fits(bias_);
}

bool DenseLayer::is_gaussian() const {
  return entry_law(weights_).is_normal() && entry_law(bias_).is_normal();
}

DenseLayer::Pushed DenseLayer::push(ConstMatrixRef points, Index input_count) const {
  require(points.rows() == inputs() * input_count, "layer '" + name_ + "': points have the wrong size");
  const Index d = input_count;
  Pushed pushed;
  if (d > 1) pushed.means.resize(outputs() * d, points.cols());
  pushed.covariances.reserve(static_cast<std::size_t>(points.cols()));
  if (d == 1) {
    pushed.means = column_product(weight_mean_, points);
    pushed.means.colwise() += bias_mean_;
  }
  // One product serves all points in the commonest case: one input, independent weights.
  const Matrix* variance = independent_variances(weights_);
  if (d == 1 && variance != nullptr && has_independent_outputs()) {
    Matrix variances = column_product(*variance, points.cwiseAbs2());
    variances.colwise() += bias_variances_;
    for (Index p = 0; p < points.cols(); ++p)
      pushed.covariances.push_back(Covariance::diagonal(variances.col(p)));
    return pushed;
  }
  for (Index p = 0; p < points.cols(); ++p) {
    const Vector column = points.col(p);
    const PointMap point(column.data(), d, inputs());
    if (d > 1) {
      Eigen::Map<Matrix> mean(pushed.means.col(p).data(), d, outputs());
      mean.noalias() = point * weight_mean_.transpose();
      mean.rowwise() += bias_mean_.transpose();
    }
    pushed.covariances.push_back(plus_bias(weight_covariance(weights_, point, outputs()), bias_, d));
  }
  return pushed;
}

}  // namespace mixcert
