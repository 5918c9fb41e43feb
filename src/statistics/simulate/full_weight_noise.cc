// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Dense covariances, N = out * in weights. Groups of one column: the output covariance
//     S_ik = sum_{j <= l} K_(ik)(jl) a_j a_l,   K_(ik)(jl) = C_(ij)(kl) + [j < l] C_(il)(kj)
// for all columns by one product with the pairs i >= k and j <= l only: N^2/2 flops a
// sample against N^2 for drawing the weights, and no N x N matrix is factored (N^3/3).
// Larger groups draw their weights, W = E W + L e: S would cost N^2 group_size^2.
// A bias in the covariance is the weight of an activation that is always one.
#include <utility>

#include "statistics/simulate/layer_noise.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {
namespace {

Index pair_count(Index n) { return n * (n + 1) / 2; }

Matrix with_ones(const Matrix& activations) {
  Matrix result(activations.rows() + 1, activations.cols());
  result << activations, Matrix::Ones(1, activations.cols());
  return result;
}

class FullLocalNoise : public LayerNoise {
 public:
  FullLocalNoise(const Matrix& covariance, Index outputs, bool includes_bias)
      : outputs_(outputs), includes_bias_(includes_bias) {
    const Index inputs = covariance.rows() / outputs;
    pair_covariance_.resize(pair_count(outputs), pair_count(inputs));
    Index column = 0;
    for (Index l = 0; l < inputs; ++l) {
      for (Index j = 0; j <= l; ++j, ++column) {
        Index row = 0;
        for (Index k = 0; k < outputs; ++k) {
          for (Index i = k; i < outputs; ++i, ++row) {
            double value = covariance(i * inputs + j, k * inputs + l);
            if (j < l) value += covariance(i * inputs + l, k * inputs + j);
            pair_covariance_(row, column) = value;
          }
        }
      }
    }
  }

  void add(const Matrix& activations, Generator& generator, Matrix& outputs) const override {
    const Matrix covariances =
        pair_covariance_ * (includes_bias_ ? products(with_ones(activations)) : products(activations));
    Matrix normals(outputs_, activations.cols());
    fill_normal(generator, normals);
    Matrix covariance = Matrix::Zero(outputs_, outputs_);
    for (Index column = 0; column < activations.cols(); ++column) {
      Index row = 0;
      for (Index k = 0; k < outputs_; row += outputs_ - k, ++k) {
        covariance.col(k).tail(outputs_ - k) = covariances.col(column).segment(row, outputs_ - k);
      }
      outputs.col(column).noalias() += psd_factor(covariance) * normals.col(column);
    }
  }

 private:
  /// a_j a_l, j <= l, for every column a.
  static Matrix products(const Matrix& activations) {
    Matrix result(pair_count(activations.rows()), activations.cols());
    for (Index column = 0; column < activations.cols(); ++column) {
      Index row = 0;
      for (Index l = 0; l < activations.rows(); row += ++l) {
        result.col(column).segment(row, l + 1) = activations(l, column) * activations.col(column).head(l + 1);
      }
    }
    return result;
  }

  Index outputs_;
  bool includes_bias_;
  Matrix pair_covariance_;
};

class FullGroupNoise : public LayerNoise {
 public:
  FullGroupNoise(const Matrix& covariance, Index outputs, bool includes_bias, Index group_size)
      : factor_(psd_factor(covariance)),
        outputs_(outputs),
        includes_bias_(includes_bias),
        group_size_(group_size) {}

  void add(const Matrix& activations, Generator& generator, Matrix& outputs) const override {
    const Matrix inputs = includes_bias_ ? with_ones(activations) : activations;
    Matrix normals(factor_.cols(), inputs.cols() / group_size_);
    fill_normal(generator, normals);
    const Matrix draws = factor_ * normals;
    for (Index group = 0; group < draws.cols(); ++group) {
      const Eigen::Map<const Matrix> weights_transposed(draws.col(group).data(), inputs.rows(), outputs_);
      outputs.middleCols(group * group_size_, group_size_).noalias() +=
          weights_transposed.transpose() * inputs.middleCols(group * group_size_, group_size_);
    }
  }

 private:
  Matrix factor_;
  Index outputs_;
  bool includes_bias_;
  Index group_size_;
};

}  // namespace

std::unique_ptr<LayerNoise> full_weight_noise(const Matrix& covariance, Index outputs, bool includes_bias,
                                              Index group_size) {
  if (group_size == 1) return std::make_unique<FullLocalNoise>(covariance, outputs, includes_bias);
  return std::make_unique<FullGroupNoise>(covariance, outputs, includes_bias, group_size);
}

}  // namespace mixcert
