// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Dense layers: given x the outputs of independent weights are independent normals, N((M x + b)_l, S_l(x)),
// S_l(x) = beta_l + sum_j V_lj x_j^2, so that a draw takes one normal for each output and no weight is drawn,
// docs/theory/graphs.md (O.3).
#include <cmath>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"
#include "mixture/verified_norm.h"
#include "network/graph/affine_operator.h"

namespace mixcert {
namespace {

class DenseOperator final : public AffineOperator {
 public:
  explicit DenseOperator(const DenseLayer& layer)
      : weights_(layer.weight_mean()), bias_(layer.bias_mean()), bias_variances_(layer.bias_variances()) {
    if (layer.is_deterministic()) return;
    is_random_ = true;
    if (layer.has_random_weights()) variances_ = layer.weight_variances();
  }

  [[nodiscard]] Index inputs() const override { return weights_.cols(); }
  [[nodiscard]] Index outputs() const override { return weights_.rows(); }
  [[nodiscard]] Index normals() const override { return is_random_ ? outputs() : 0; }

  [[nodiscard]] Matrix apply(const Matrix& x) const override {
    Matrix y = linear(x);
    y.colwise() += bias_;
    return y;
  }
  [[nodiscard]] Matrix linear(const Matrix& x) const override { return weights_ * x; }
  [[nodiscard]] Matrix transpose(const Matrix& y) const override { return weights_.transpose() * y; }

  [[nodiscard]] Matrix draw(const Matrix& x, const Matrix& normals) const override {
    Matrix y = apply(x);
    if (is_random_) y += deviations(x.cwiseAbs2()).cwiseProduct(normals);
    return y;
  }

  /// Here weights are drawn.
  [[nodiscard]] Matrix draw_jointly(const Matrix& x, const NormalSource& source) const override {
    Matrix y = apply(x);
    if (!is_random_) return y;
    if (variances_.size() > 0) {
      Matrix weights(outputs(), inputs());
      source(weights);
      y += variances_.cwiseSqrt().cwiseProduct(weights) * x;
    }
    Matrix bias(outputs(), 1);
    source(bias);
    y.colwise() += bias_variances_.cwiseSqrt().cwiseProduct(bias.col(0));
    return y;
  }

  [[nodiscard]] Matrix carried_noise(const MeanActivations& at, const Matrix& cotangents) const override {
    if (!is_random_) return Matrix::Zero(0, cotangents.cols());
    return Vector(deviations(at.square)).asDiagonal() * cotangents;
  }

  /// (M + diag(n / S(x)^{1/2}) V diag(x))'; 0/0 = 0.
  [[nodiscard]] Matrix slope_transpose(const Vector& x, const Vector& normals,
                                       const Matrix& cotangents) const override {
    Matrix carried = transpose(cotangents);
    if (variances_.size() == 0) return carried;
    const Vector own = deviations(x.cwiseAbs2());
    const Vector over = (own.array() > 0.0).select(normals.array() / own.array(), 0.0);
    carried += x.asDiagonal() * (variances_.transpose() * (over.asDiagonal() * cotangents));
    return carried;
  }

  /// Rows of V are independent: R(x) = diag S(x)^{1/2}.
  [[nodiscard]] std::vector<NoiseBlock> noise_blocks(const Vector& x) const override {
    std::vector<NoiseBlock> blocks;
    if (!is_random_) return blocks;
    const Vector own = deviations(x.cwiseAbs2());
    for (Index l = 0; l < outputs(); ++l) blocks.push_back({l, Matrix::Constant(1, 1, own(l))});
    return blocks;
  }
  [[nodiscard]] Matrix noise_gram(const Matrix& q) const override {
    if (variances_.size() == 0) return Matrix::Zero(inputs(), inputs());
    return Matrix(Vector(variances_.transpose() * q.diagonal()).asDiagonal());
  }
  [[nodiscard]] Sizes sizes() const override {
    const double gram = variances_.size() > 0 ? variances_.colwise().sum().maxCoeff() : 0.0;
    return {enlarged(weights_.squaredNorm()), enlarged(gram), inputs() + outputs() + 16};
  }

  /// Given x, V x is S(x)^{1/2} o g: it answers to x by at most (sum_l max_j V_lj g_l^2)^{1/2} (F.6).
  [[nodiscard]] Norms norms() const override {
    if (variances_.size() == 0) return {spectral_norm(weights_), 0.0, 0.0};
    const Vector largest = variances_.rowwise().maxCoeff();
    return {spectral_norm(weights_), enlarged(largest.sum()), largest.maxCoeff()};
  }
  [[nodiscard]] NoiseAt noise_at(const Vector& x) const override {
    if (!is_random_) return {};
    const Vector own = deviations(x.cwiseAbs2());
    const double change = variances_.size() > 0 ? std::sqrt(variances_.maxCoeff()) : 0.0;
    return {enlarged(own.maxCoeff()), enlarged(change), enlarged(own.squaredNorm())};
  }
  [[nodiscard]] double apply_error(double size) const override {
    return enlarged(rounding_gamma(inputs() + 8) * (weights_.norm() * size + bias_.norm()));
  }
  /// (F.7).
  [[nodiscard]] DrawRow draw_error(const Norms& norms, const Matrix& x, const DrawRow& error,
                                   const Matrix& normals, double normal_error) const override {
    const double gamma = rounding_gamma(inputs() + 16), size = weights_.norm();
    const Matrix own = is_random_ ? deviations(x.cwiseAbs2()) : Matrix(0, x.cols());
    const Vector largest = variances_.size() > 0 ? Vector(variances_.rowwise().maxCoeff().cwiseSqrt())
                                                 : Vector::Zero(own.rows());
    DrawRow sum(x.cols());
    for (Index i = 0; i < x.cols(); ++i) {
      double noise = 0.0, answer = 0.0;
      if (is_random_) {
        noise = own.col(i).cwiseProduct(normals.col(i)).norm();
        answer = largest.cwiseProduct(normals.col(i)).norm() + normal_error * largest.norm();
      }
      sum(i) = (norms.mean + answer) * error(i) + normal_error * own.col(i).norm() +
               gamma * (size * x.col(i).norm() + bias_.norm() + noise);
    }
    return enlarged(sum);
  }

 private:
  /// S^{1/2} from squares of activations.
  [[nodiscard]] Matrix deviations(const Matrix& squares) const {
    Matrix variances = variances_.size() > 0 ? Matrix(variances_ * squares)
                                             : Matrix(Matrix::Zero(outputs(), squares.cols()));
    variances.colwise() += bias_variances_;
    return variances.cwiseSqrt();
  }

  Matrix weights_, variances_;  ///< variances: empty where weights are fixed
  Vector bias_, bias_variances_;
  bool is_random_ = false;
};

}  // namespace

bool has_operator(const DenseLayer& layer) {
  return layer.is_deterministic() || (layer.has_independent_outputs() && layer.is_gaussian());
}

OperatorPointer dense_operator(const DenseLayer& layer) {
  require(has_operator(layer),
          "layer '" + layer.name() +
              "': expected independent Gaussian weights in a network with random convolutions, got others");
  return std::make_shared<DenseOperator>(layer);
}

}  // namespace mixcert
