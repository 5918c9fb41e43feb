// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Average pooling, batch norm, slices and additive noise as operators, docs/theory/graphs.md (O.1).
#include <cmath>
#include <utility>
#include <vector>

#include "mixcert/core/rounding.h"
#include "network/graph/affine_operator.h"
#include "network/layers/window_taps.h"

namespace mixcert {
namespace {

/// Without randomness.
class FixedOperator : public AffineOperator {
 public:
  [[nodiscard]] Index normals() const final { return 0; }
  [[nodiscard]] Matrix draw(const Matrix& x, const Matrix& /*normals*/) const final { return apply(x); }
  [[nodiscard]] Matrix carried_noise(const MeanActivations& /*at*/, const Matrix& cotangents) const final {
    return Matrix::Zero(0, cotangents.cols());
  }
  [[nodiscard]] std::vector<NoiseBlock> noise_blocks(const Vector& /*x*/) const final { return {}; }
  [[nodiscard]] Matrix noise_gram(const Matrix& /*q*/) const final {
    return Matrix::Zero(inputs(), inputs());
  }
  [[nodiscard]] NoiseAt noise_at(const Vector& /*x*/) const final { return {}; }
  [[nodiscard]] DrawRow draw_error(const Norms& norms, const Matrix& x, const DrawRow& error,
                                   const Matrix& /*normals*/, double /*normal_error*/) const final {
    DrawRow sum = norms.mean * error;
    for (Index i = 0; i < x.cols(); ++i) sum(i) += apply_error(x.col(i).norm());
    return enlarged(sum);
  }
};

class AveragePoolOperator final : public FixedOperator {
 public:
  AveragePoolOperator(const Window2d& window, const LayerShape& shape)
      : channels_(shape.channels),
        pixels_(shape.positions()),
        windows_(window_pixels(window, shape.image)),
        share_(1.0 / static_cast<double>(window.kernel.height * window.kernel.width)),
        most_windows_(most_windows(window, shape.image)) {}

  [[nodiscard]] Index inputs() const override { return channels_ * pixels_; }
  [[nodiscard]] Index outputs() const override { return channels_ * positions(); }

  [[nodiscard]] Matrix apply(const Matrix& x) const override { return linear(x); }
  [[nodiscard]] Matrix linear(const Matrix& x) const override {
    Matrix y = Matrix::Zero(outputs(), x.cols());
    for_each_pair(x.cols(), [&](Index draw, Index out, Index in) { y(out, draw) += share_ * x(in, draw); });
    return y;
  }
  [[nodiscard]] Matrix transpose(const Matrix& y) const override {
    Matrix x = Matrix::Zero(inputs(), y.cols());
    for_each_pair(y.cols(), [&](Index draw, Index out, Index in) { x(in, draw) += share_ * y(out, draw); });
    return x;
  }
  [[nodiscard]] double apply_error(double size) const override {
    return rounding_gamma(static_cast<Index>(1.0 / share_) + 8) * norms().mean * size;
  }
  /// Rows have at most 1 / share entries.
  [[nodiscard]] Sizes sizes() const override {
    return {enlarged(share_ * static_cast<double>(outputs())), 0.0,
            static_cast<Index>(1.0 / share_ + most_windows_) + 8};
  }
  /// |M|^2 is at most the largest sum of a row times that of a column: one, and the windows that see a pixel
  /// times the share.
  [[nodiscard]] Norms norms() const override {
    return {enlarged(std::sqrt(share_ * most_windows_)), 0.0, 0.0};
  }

 private:
  [[nodiscard]] Index positions() const { return static_cast<Index>(windows_.size()); }
  /// Draw by draw, so that a tensor stays in cache.
  template <class Visit>
  void for_each_pair(Index draws, Visit visit) const {
    for (Index draw = 0; draw < draws; ++draw) {
      for (Index channel = 0; channel < channels_; ++channel) {
        for (std::size_t at = 0; at < windows_.size(); ++at) {
          for (const Index pixel : windows_[at])
            visit(draw, channel * positions() + static_cast<Index>(at), channel * pixels_ + pixel);
        }
      }
    }
  }

  Index channels_, pixels_;
  std::vector<std::vector<Index>> windows_;
  double share_, most_windows_;
};

class ScaleOperator final : public FixedOperator {
 public:
  ScaleOperator(Vector scale, Vector shift, const Vector& sizes)
      : scale_(std::move(scale)), shift_(std::move(shift)), size_(sizes.norm()) {}

  [[nodiscard]] Index inputs() const override { return scale_.size(); }
  [[nodiscard]] Index outputs() const override { return scale_.size(); }
  [[nodiscard]] Matrix apply(const Matrix& x) const override {
    return (scale_.asDiagonal() * x).colwise() + shift_;
  }
  [[nodiscard]] Matrix linear(const Matrix& x) const override { return scale_.asDiagonal() * x; }
  [[nodiscard]] Matrix transpose(const Matrix& y) const override { return scale_.asDiagonal() * y; }
  [[nodiscard]] Norms norms() const override { return {scale_.cwiseAbs().maxCoeff(), 0.0, 0.0}; }
  [[nodiscard]] double apply_error(double size) const override {
    return enlarged(rounding_gamma(8) * (norms().mean * size + size_));
  }
  [[nodiscard]] Sizes sizes() const override { return {enlarged(scale_.squaredNorm()), 0.0, 8}; }

 private:
  Vector scale_, shift_;
  double size_;
};

class SliceOperator final : public FixedOperator {
 public:
  SliceOperator(Index inputs, Index first, Index size) : inputs_(inputs), first_(first), size_(size) {}

  [[nodiscard]] Index inputs() const override { return inputs_; }
  [[nodiscard]] Index outputs() const override { return size_; }
  [[nodiscard]] Matrix apply(const Matrix& x) const override { return linear(x); }
  [[nodiscard]] Matrix linear(const Matrix& x) const override { return x.middleRows(first_, size_); }
  [[nodiscard]] Matrix transpose(const Matrix& y) const override {
    Matrix x = Matrix::Zero(inputs_, y.cols());
    x.middleRows(first_, size_) = y;
    return x;
  }
  [[nodiscard]] Norms norms() const override { return {1.0, 0.0, 0.0}; }
  /// Nothing is computed.
  [[nodiscard]] double apply_error(double /*size*/) const override { return 0.0; }
  [[nodiscard]] Sizes sizes() const override { return {static_cast<double>(size_), 0.0, 1}; }

 private:
  Index inputs_, first_, size_;
};

class NoiseOperator final : public AffineOperator {
 public:
  NoiseOperator(Vector deviations, Vector offset)
      : deviations_(std::move(deviations)), offset_(std::move(offset)) {}

  [[nodiscard]] Index inputs() const override { return deviations_.size(); }
  [[nodiscard]] Index outputs() const override { return deviations_.size(); }
  [[nodiscard]] Matrix apply(const Matrix& x) const override { return x.colwise() + offset_; }
  [[nodiscard]] Matrix linear(const Matrix& x) const override { return x; }
  [[nodiscard]] Matrix transpose(const Matrix& y) const override { return y; }
  [[nodiscard]] Index normals() const override { return deviations_.size(); }
  [[nodiscard]] Matrix draw(const Matrix& x, const Matrix& normals) const override {
    return apply(x) + deviations_.asDiagonal() * normals;
  }
  [[nodiscard]] bool is_noise() const override { return true; }
  [[nodiscard]] Matrix draw_jointly(const Matrix& x, const NormalSource& source) const override {
    Matrix own(normals(), x.cols());
    source(own);
    return draw(x, own);
  }
  [[nodiscard]] Matrix carried_noise(const MeanActivations& /*at*/, const Matrix& cotangents) const override {
    return deviations_.asDiagonal() * cotangents;
  }
  [[nodiscard]] std::vector<NoiseBlock> noise_blocks(const Vector& /*x*/) const override {
    std::vector<NoiseBlock> blocks;
    for (Index i = 0; i < outputs(); ++i) blocks.push_back({i, Matrix::Constant(1, 1, deviations_(i))});
    return blocks;
  }
  /// The noise does not answer to x.
  [[nodiscard]] Matrix noise_gram(const Matrix& /*q*/) const override {
    return Matrix::Zero(inputs(), inputs());
  }
  [[nodiscard]] Sizes sizes() const override { return {static_cast<double>(inputs()), 0.0, 2}; }
  [[nodiscard]] Norms norms() const override { return {1.0, 0.0, 0.0}; }
  [[nodiscard]] NoiseAt noise_at(const Vector& /*x*/) const override {
    return {deviations_.maxCoeff(), 0.0, enlarged(deviations_.squaredNorm())};
  }
  [[nodiscard]] double apply_error(double size) const override {
    return enlarged(rounding_gamma(2) * (size + offset_.norm()));
  }
  [[nodiscard]] DrawRow draw_error(const Norms& /*norms*/, const Matrix& x, const DrawRow& error,
                                   const Matrix& normals, double normal_error) const override {
    DrawRow sum = error;
    const double largest = deviations_.maxCoeff(), all = deviations_.norm(), moved = offset_.norm();
    for (Index i = 0; i < x.cols(); ++i)
      sum(i) += normal_error * all +
                rounding_gamma(8) * (x.col(i).norm() + moved + largest * normals.col(i).norm());
    return enlarged(sum);
  }

 private:
  Vector deviations_, offset_;
};

}  // namespace

Matrix AffineOperator::draw_jointly(const Matrix& x, const NormalSource& source) const {
  Matrix own(normals(), 1);
  if (own.size() > 0) source(own);
  return draw(x, own.replicate(1, x.cols()));
}

OperatorPointer average_pool_operator(const Window2d& window, const LayerShape& shape) {
  return std::make_shared<AveragePoolOperator>(window, shape);
}
OperatorPointer scale_operator(Vector scale, Vector shift, const Vector& sizes) {
  return std::make_shared<ScaleOperator>(std::move(scale), std::move(shift), sizes);
}
OperatorPointer slice_operator(Index inputs, Index first, Index size) {
  return std::make_shared<SliceOperator>(inputs, first, size);
}
OperatorPointer noise_operator(Vector deviations, Vector offset) {
  return std::make_shared<NoiseOperator>(std::move(deviations), std::move(offset));
}

}  // namespace mixcert
