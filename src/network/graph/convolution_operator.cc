// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Convolutions as products of patches and kernels, docs/theory/graphs.md (O.2). The normals of a draw are
// those of the kernel, in its order, and behind them those of the biases; either has none where no variance
// is given.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "mixcert/core/rounding.h"
#include "mixture/verified_norm.h"
#include "network/graph/affine_operator.h"
#include "network/graph/convolution_norm.h"
#include "network/graph/patches.h"
#include "network/layers/window_taps.h"

namespace mixcert {
namespace {

/// The kernel's noise in one draw, as an expression: nothing is written down.
auto kernel_noise(const Matrix& deviation, const double* normals) {
  return deviation.cwiseProduct(Eigen::Map<const Matrix>(normals, deviation.rows(), deviation.cols()));
}

class ConvolutionOperator final : public AffineOperator {
 public:
  explicit ConvolutionOperator(const Conv2dSpec& spec)
      : spec_(spec),
        channels_(spec.in / spec.groups),
        group_outputs_(spec.out / spec.groups),
        patches_(spec.window, spec.image, channels_),
        kernel_(Eigen::Map<const Matrix>(spec.kernel_mean.data(), patches_.taps(), spec.out)),
        bias_(spec.bias_mean.size() > 0 ? spec.bias_mean : Vector(Vector::Zero(spec.out))),
        bias_deviation_(spec.bias_variance.cwiseSqrt()),
        most_windows_(most_windows(spec.window, spec.image)) {
    if (spec.kernel_variance.size() > 0) {
      deviation_ =
          Eigen::Map<const Matrix>(spec.kernel_variance.data(), patches_.taps(), spec.out).cwiseSqrt();
    }
  }

  [[nodiscard]] Index inputs() const override { return spec_.in * patches_.pixels(); }
  [[nodiscard]] Index outputs() const override { return spec_.out * patches_.positions(); }
  [[nodiscard]] Index normals() const override { return deviation_.size() + bias_deviation_.size(); }
  [[nodiscard]] bool has_shared_weights() const override { return normals() > 0; }

  [[nodiscard]] Matrix apply(const Matrix& x) const override { return with_bias(x, bias_); }
  [[nodiscard]] Matrix linear(const Matrix& x) const override {
    return with_bias(x, Vector::Zero(spec_.out));
  }

  [[nodiscard]] Matrix draw(const Matrix& x, const Matrix& normals) const override {
    Matrix y(outputs(), x.cols()), patches;
    Matrix kernel = kernel_;
    for (Index i = 0; i < x.cols(); ++i) {
      if (deviation_.size() > 0) kernel = kernel_ + kernel_noise(deviation_, normals.col(i).data());
      const Vector bias = bias_deviation_.size() > 0 ? Vector(bias_ + bias_noise(normals, i)) : bias_;
      convolve(x.col(i), kernel, bias, patches, y.col(i));
    }
    return y;
  }

  [[nodiscard]] Matrix transpose(const Matrix& y) const override { return transposed(kernel_, y); }
  [[nodiscard]] Matrix slope_transpose(const Vector& /*x*/, const Vector& normals,
                                       const Matrix& y) const override {
    return deviation_.size() > 0 ? transposed(kernel_ + kernel_noise(deviation_, normals.data()), y)
                                 : transpose(y);
  }

  /// Weight gradients times deviations, (O.2).
  [[nodiscard]] Matrix carried_noise(const MeanActivations& at, const Matrix& cotangents) const override {
    Matrix noise(normals(), cotangents.cols()), patches;
    const Index entries = kernel_.rows() * group_outputs_, positions = patches_.positions();
    for (Index group = 0; group < spec_.groups && deviation_.size() > 0; ++group) {
      patches_.gather(at.mean.data() + first_pixel(group), patches);
      for (Index i = 0; i < cotangents.cols(); ++i) {
        Eigen::Map<Matrix> gradient(noise.col(i).data() + group * entries, kernel_.rows(), group_outputs_);
        gradient.noalias() = patches.transpose() * block(cotangents.col(i).data(), group);
        gradient.array() *= own_kernel(deviation_, group).array();
      }
    }
    for (Index channel = 0; channel < bias_deviation_.size(); ++channel) {
      noise.row(deviation_.size() + channel) =
          bias_deviation_(channel) * cotangents.middleRows(channel * positions, positions).colwise().sum();
    }
    return noise;
  }

  /// A block for each channel: patches times deviations, and the bias.
  [[nodiscard]] std::vector<NoiseBlock> noise_blocks(const Vector& x) const override {
    const Index positions = patches_.positions(), biases = bias_deviation_.size() > 0 ? 1 : 0;
    const Index taps = deviation_.rows();
    std::vector<NoiseBlock> blocks;
    Matrix patches;
    for (Index channel = 0; channel < spec_.out && normals() > 0; ++channel) {
      if (taps > 0 && channel % group_outputs_ == 0)
        patches_.gather(x.data() + first_pixel(channel / group_outputs_), patches);
      Matrix columns(positions, taps + biases);
      if (taps > 0) columns.leftCols(taps) = patches * deviation_.col(channel).asDiagonal();
      if (biases > 0) columns.col(taps).setConstant(bias_deviation_(channel));
      blocks.push_back({channel * positions, std::move(columns)});
    }
    return blocks;
  }

  /// Two entries of V are correlated where they are one entry (channel, tap) of the kernel at two positions:
  /// the pixels that the tap sees there get the sum over the channels of its variance times Q.
  [[nodiscard]] Matrix noise_gram(const Matrix& q) const override {
    Matrix gram = Matrix::Zero(inputs(), inputs());
    const Index positions = patches_.positions(), width = spec_.window.kernel.width;
    const Index taps = spec_.window.kernel.height * width;
    for (Index row = 0; row < spec_.groups * deviation_.rows(); ++row) {
      const Index group = row / deviation_.rows(), own = row % deviation_.rows(), tap = own % taps;
      Matrix sum = Matrix::Zero(positions, positions);
      for (Index channel = group * group_outputs_; channel < (group + 1) * group_outputs_; ++channel)
        sum += std::pow(deviation_(own, channel), 2) *
               q.block(channel * positions, channel * positions, positions, positions);
      const std::vector<Patches::Sight> seen = patches_.seen_by(tap / width, tap % width);
      const Index first = first_pixel(group) + own / taps * patches_.pixels();
      for (const auto& [pixel, position] : seen) {
        for (const auto& [other_pixel, other_position] : seen)
          gram(first + other_pixel, first + pixel) += sum(other_position, position);
      }
    }
    return gram;
  }

  /// Each tap looks at a pixel from one position at most.
  [[nodiscard]] Sizes sizes() const override {
    const double mean = static_cast<double>(patches_.positions()) * kernel_.squaredNorm();
    double gram = 0.0;
    const Index taps = spec_.window.kernel.height * spec_.window.kernel.width;
    for (Index group = 0; group < spec_.groups && deviation_.size() > 0; ++group) {
      const Vector sums = own_kernel(deviation_, group).rowwise().squaredNorm();
      for (Index channel = 0; channel < channels_; ++channel)
        gram = std::max(gram, sums.segment(channel * taps, taps).sum());
    }
    return {enlarged(mean), enlarged(gram), kernel_.rows() + spec_.out * taps + 16};
  }

  /// V is a random kernel K on patches: |V x| <= |K| (most windows that see a pixel)^{1/2} |x|, and with the
  /// largest deviation s, E|K| <= s (out^{1/2} + (in taps)^{1/2}) (Chevet; Gaussian matrices with smaller
  /// variances have smaller norms on average), and |K| is s-Lipschitz (F.4).
  [[nodiscard]] Norms norms() const override {
    const double mean = convolution_norm(spec_);
    if (deviation_.size() == 0) return {mean, 0.0, 0.0};
    const auto kernel_inputs = static_cast<double>(spec_.groups * patches_.taps());
    const double size = std::sqrt(static_cast<double>(spec_.out)) + std::sqrt(kernel_inputs);
    const double each = std::pow(deviation_.maxCoeff(), 2) * most_windows_;
    return {mean, enlarged(each * (size * size + 1.0)), enlarged(each)};
  }

  /// Channel by channel: patches with deviations for columns, and one for the bias.
  [[nodiscard]] NoiseAt noise_at(const Vector& x) const override {
    const auto positions = static_cast<double>(patches_.positions());
    double largest = 0.0, total = 0.0;
    Matrix patches;
    for (Index group = 0; group < spec_.groups && deviation_.size() > 0; ++group) {
      patches_.gather(x.data() + first_pixel(group), patches);
      const Matrix own = own_kernel(deviation_, group);
      largest = std::max(largest, std::pow(spectral_norm(patches) * own.maxCoeff(), 2));
      total += patches.colwise().squaredNorm().dot(own.cwiseAbs2().rowwise().sum());
    }
    if (bias_deviation_.size() > 0) {
      largest += positions * std::pow(bias_deviation_.maxCoeff(), 2);
      total += positions * bias_deviation_.squaredNorm();
    }
    const double change = deviation_.size() > 0 ? deviation_.maxCoeff() * std::sqrt(most_windows_) : 0.0;
    return {enlarged(std::sqrt(largest)), enlarged(change), enlarged(total)};
  }

  [[nodiscard]] double apply_error(double size) const override {
    return enlarged(rounding() * (std::sqrt(most_windows_) * kernel_.norm() * size + bias_size(bias_)));
  }

  [[nodiscard]] DrawRow draw_error(const Norms& norms, const Matrix& x, const DrawRow& error,
                                   const Matrix& normals, double normal_error) const override {
    const double windows = std::sqrt(most_windows_);
    DrawRow sum(x.cols());
    for (Index i = 0; i < x.cols(); ++i) {
      const double size = x.col(i).norm();
      const double kernel_off = normal_error * deviation_.norm();
      const double noise =
          deviation_.size() > 0 ? kernel_noise(deviation_, normals.col(i).data()).norm() + kernel_off : 0.0;
      const double shift = bias_deviation_.size() > 0 ? bias_size(bias_noise(normals, i)) : 0.0;
      sum(i) = (norms.mean + windows * noise) * error(i) + windows * kernel_off * size +
               normal_error * bias_size(bias_deviation_) +
               rounding() * (windows * (kernel_.norm() + noise) * size + bias_size(bias_) + shift);
    }
    return enlarged(sum);
  }

 private:
  [[nodiscard]] Index first_pixel(Index group) const { return group * channels_ * patches_.pixels(); }
  [[nodiscard]] double rounding() const { return rounding_gamma(patches_.taps() + 8); }
  /// A bias stands at every position.
  [[nodiscard]] double bias_size(const Vector& bias) const {
    return std::sqrt(static_cast<double>(patches_.positions())) * bias.norm();
  }
  [[nodiscard]] Vector bias_noise(const Matrix& normals, Index draw) const {
    return bias_deviation_.cwiseProduct(normals.col(draw).tail(bias_deviation_.size()));
  }
  /// The outputs of a group as (positions x channels).
  [[nodiscard]] Eigen::Map<const Matrix> block(const double* y, Index group) const {
    return {y + group * group_outputs_ * patches_.positions(), patches_.positions(), group_outputs_};
  }
  [[nodiscard]] Eigen::Ref<const Matrix> own_kernel(const Matrix& kernel, Index group) const {
    return kernel.middleCols(group * group_outputs_, group_outputs_);
  }

  [[nodiscard]] Matrix transposed(const Matrix& kernel, const Matrix& y) const {
    Matrix x = Matrix::Zero(inputs(), y.cols()), patches;
    for (Index i = 0; i < y.cols(); ++i) {
      for (Index group = 0; group < spec_.groups; ++group) {
        patches.noalias() = block(y.col(i).data(), group) * own_kernel(kernel, group).transpose();
        patches_.scatter(patches, x.col(i).data() + first_pixel(group));
      }
    }
    return x;
  }

  [[nodiscard]] Matrix with_bias(const Matrix& x, const Vector& bias) const {
    Matrix y(outputs(), x.cols()), patches;
    for (Index i = 0; i < x.cols(); ++i) convolve(x.col(i), kernel_, bias, patches, y.col(i));
    return y;
  }
  void convolve(ConstVectorRef x, const Matrix& kernel, const Vector& bias, Matrix& patches,
                Eigen::Ref<Vector> y) const {
    const Index positions = patches_.positions();
    for (Index group = 0; group < spec_.groups; ++group) {
      patches_.gather(x.data() + first_pixel(group), patches);
      Eigen::Map<Matrix> out(y.data() + group * group_outputs_ * positions, positions, group_outputs_);
      out.noalias() = patches * own_kernel(kernel, group);
      out.rowwise() += bias.segment(group * group_outputs_, group_outputs_).transpose();
    }
  }

  Conv2dSpec spec_;
  Index channels_, group_outputs_;  ///< of a group
  Patches patches_;
  Matrix kernel_, deviation_;  ///< taps of a group x output channels; empty: not random
  Vector bias_, bias_deviation_;
  double most_windows_;
};

}  // namespace

OperatorPointer convolution_operator(const Conv2dSpec& spec) {
  const Size2d out = window_positions(spec.window, spec.image);
  const Index group_inputs = spec.in / spec.groups;
  check_draw_bytes("conv2d '" + spec.name + "': patches",
                   static_cast<double>(out.height) * static_cast<double>(out.width) *
                       static_cast<double>(group_inputs) * static_cast<double>(spec.window.kernel.height) *
                       static_cast<double>(spec.window.kernel.width));
  return std::make_shared<ConvolutionOperator>(spec);
}

}  // namespace mixcert
