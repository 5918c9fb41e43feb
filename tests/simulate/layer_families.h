// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A random layer of every weight and bias family, and the plainest way to draw from one:
// the covariance of all entries of [W, b], written out.
#pragma once

#include <Eigen/Eigenvalues>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mixcert/network/network.h"
#include "transport/random_laws.h"

namespace mixcert::testing {

inline const std::vector<std::string>& weight_families() {
  static const std::vector<std::string> names = {"deterministic", "mean_field", "kronecker", "eigenbasis",
                                                 "low_rank",      "full",       "joint"};
  return names;
}
inline const std::vector<std::string>& bias_families() {
  static const std::vector<std::string> names = {"deterministic", "independent", "correlated"};
  return names;
}

/// Covariance of rank one less than full, so that singular factors are met everywhere.
inline Matrix singular_covariance(Generator& generator, Index size) {
  const Matrix factor = 0.5 * random_matrix(generator, size, std::max<Index>(1, size - 1));
  return factor * factor.transpose();
}

inline WeightCovariance make_weights(const std::string& family, Index out, Index in, Generator& generator) {
  const auto variances = [&] { return Matrix(0.25 * random_matrix(generator, out, in).cwiseAbs2()); };
  if (family == "mean_field") return MeanFieldWeights{variances()};
  if (family == "kronecker") {
    return KroneckerWeights{singular_covariance(generator, out), singular_covariance(generator, in)};
  }
  if (family == "eigenbasis") {
    return KroneckerEigenbasisWeights{random_matrix(generator, out, out), random_matrix(generator, in, in),
                                      variances()};
  }
  if (family == "low_rank") {
    return LowRankWeights{variances(),
                          {random_matrix(generator, out, in), 0.3 * random_matrix(generator, out, in)}};
  }
  if (family == "full") return FullWeights{singular_covariance(generator, out * in)};
  if (family == "joint") return JointWeights{singular_covariance(generator, out * (in + 1))};
  return DeterministicWeights{};
}

inline BiasCovariance make_bias(const std::string& family, Index out, Generator& generator) {
  if (family == "independent") return IndependentBias{random_matrix(generator, out, 1).cwiseAbs2()};
  if (family == "correlated") return CorrelatedBias{singular_covariance(generator, out)};
  return DeterministicBias{};
}

inline DenseLayer make_layer(const std::string& weights, const std::string& bias, Index out, Index in,
                             Generator& generator) {
  const Matrix mean = random_matrix(generator, out, in);
  const Vector bias_mean = random_matrix(generator, out, 1);
  return {"layer", mean, bias_mean, make_weights(weights, out, in, generator),
          make_bias(bias, out, generator)};
}

/// Cov(W_ij, W_kl) (or of [W, b] for the joint family) from the definitions in weight_law.h.
inline Matrix entry_covariance(const DenseLayer& layer) {
  const Index out = layer.outputs();
  const Index in = layer.inputs();
  if (const auto* law = std::get_if<FullWeights>(&layer.weights())) return law->covariance;
  if (const auto* law = std::get_if<JointWeights>(&layer.weights())) return law->covariance;
  return Matrix::NullaryExpr(out * in, out * in, [&](Index row, Index column) {
    const Index i = row / in;
    const Index j = row % in;
    const Index k = column / in;
    const Index l = column % in;
    if (const auto* law = std::get_if<MeanFieldWeights>(&layer.weights())) {
      return row == column ? law->variance(i, j) : 0.0;
    }
    if (const auto* law = std::get_if<KroneckerWeights>(&layer.weights())) {
      return law->row_covariance(i, k) * law->column_covariance(j, l);
    }
    double sum = 0.0;
    if (const auto* law = std::get_if<KroneckerEigenbasisWeights>(&layer.weights())) {
      for (Index a = 0; a < out; ++a) {
        for (Index b = 0; b < in; ++b) {
          sum += law->row_basis(i, a) * law->row_basis(k, a) * law->column_basis(j, b) *
                 law->column_basis(l, b) * law->variance(a, b);
        }
      }
    }
    if (const auto* law = std::get_if<LowRankWeights>(&layer.weights())) {
      if (row == column) sum = law->variance(i, j);
      for (const Matrix& factor : law->factor) sum += factor(i, j) * factor(k, l);
    }
    return sum;
  });
}

inline Matrix symmetric_root(const Matrix& matrix) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(matrix);
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal() *
         eigen.eigenvectors().transpose();
}

/// Draws W and b entry by entry.
class NaiveLayer {
 public:
  explicit NaiveLayer(const DenseLayer& layer)
      : layer_(layer),
        joint_(std::holds_alternative<JointWeights>(layer.weights())),
        weight_root_(symmetric_root(entry_covariance(layer))),
        bias_root_(Matrix::Zero(layer.outputs(), layer.outputs())) {
    if (const auto* law = std::get_if<IndependentBias>(&layer.bias())) {
      bias_root_ = law->variance.cwiseSqrt().asDiagonal();
    } else if (const auto* correlated = std::get_if<CorrelatedBias>(&layer.bias())) {
      bias_root_ = symmetric_root(correlated->covariance);
    }
  }

  /// W a + b for every column a, with one draw of W and b.
  [[nodiscard]] Matrix draw(const Matrix& activations, Generator& generator) const {
    const Index columns = layer_.inputs() + (joint_ ? 1 : 0);
    const Vector entries = weight_root_ * random_matrix(generator, weight_root_.rows(), 1);
    Matrix weights = layer_.weight_mean();
    Vector bias = layer_.bias_mean() + bias_root_ * random_matrix(generator, layer_.outputs(), 1);
    for (Index i = 0; i < layer_.outputs(); ++i) {
      weights.row(i) += entries.segment(i * columns, layer_.inputs()).transpose();
      if (joint_) bias(i) += entries(i * columns + layer_.inputs());
    }
    return (weights * activations).colwise() + bias;
  }

 private:
  const DenseLayer& layer_;
  bool joint_;
  Matrix weight_root_;
  Matrix bias_root_;
};

}  // namespace mixcert::testing
