// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Convolutions in front of a network: patches as rows of a matrix (im2col) times the kernel, once for the
// values and once with absolute values for the rounding errors (L.1). One large product each: a direct loop
// over taps is several times slower.
#include <algorithm>
#include <utility>

#include "network/layers/feature_steps.h"
#include "network/layers/window_taps.h"

namespace mixcert {
namespace {

class ConvolutionStep : public FeatureStep {
 public:
  explicit ConvolutionStep(const Conv2dSpec& spec)
      : window_(spec.window),
        image_(spec.image),
        out_image_(window_positions(spec.window, spec.image)),
        groups_(spec.groups),
        channels_(spec.in / spec.groups),
        bias_(spec.bias_mean.size() > 0 ? spec.bias_mean : Vector(Vector::Zero(spec.out))) {
    const Index taps = channels_ * spec.window.kernel.height * spec.window.kernel.width;
    kernel_ = Eigen::Map<const Matrix>(spec.kernel_mean.data(), taps, spec.out);
    magnitudes_ = kernel_.cwiseAbs();
  }

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    const Index taps = kernel_.rows();
    const double gamma = rounding_gamma(taps + 1);
    input.errors += gamma * input.values.cwiseAbs();
    Vector values = convolve(input.values, kernel_, bias_);
    const Vector bound = convolve(input.errors, magnitudes_, gamma * bias_.cwiseAbs());
    return {std::move(values), raised(bound, taps + 4)};
  }

 private:
  [[nodiscard]] Index positions() const { return out_image_.height * out_image_.width; }

  [[nodiscard]] Vector convolve(const Vector& input, const Matrix& kernel, const Vector& bias) const {
    const Index group_outputs = kernel.cols() / groups_;
    Vector output(positions() * kernel.cols());
    Matrix patches(positions(), kernel.rows());
    for (Index group = 0; group < groups_; ++group) {
      fill_patches(input.data() + group * channels_ * image_.height * image_.width, patches);
      Eigen::Map<Matrix> block(output.data() + group * group_outputs * positions(), positions(),
                               group_outputs);
      block.noalias() = patches * kernel.middleCols(group * group_outputs, group_outputs);
      block.rowwise() += bias.segment(group * group_outputs, group_outputs).transpose();
    }
    return output;
  }

  /// Column (channel, i, j): the pixel under tap (i, j) at every position.
  void fill_patches(const double* input, Matrix& patches) const {
    Index column = 0;
    for (Index channel = 0; channel < channels_; ++channel) {
      const double* plane = input + channel * image_.height * image_.width;
      for (Index i = 0; i < window_.kernel.height; ++i) {
        for (Index j = 0; j < window_.kernel.width; ++j)
          fill_column(plane, i, j, patches.col(column++).data());
      }
    }
  }

  void fill_column(const double* plane, Index i, Index j, double* column) const {
    for (Index y = 0; y < out_image_.height; ++y, column += out_image_.width) {
      const Index row =
          tap_pixel(y, i, window_.stride.height, window_.padding.height, window_.dilation.height);
      if (row < 0 || row >= image_.height) {
        std::fill_n(column, out_image_.width, 0.0);
        continue;
      }
      const double* pixels = plane + row * image_.width;
      for (Index x = 0; x < out_image_.width; ++x) {
        const Index at = tap_pixel(x, j, window_.stride.width, window_.padding.width, window_.dilation.width);
        column[x] = at >= 0 && at < image_.width ? pixels[at] : 0.0;
      }
    }
  }

  Window2d window_;
  Size2d image_;
  Size2d out_image_;
  Index groups_;
  Index channels_;     // of one group
  Matrix kernel_;      // taps of a group x output channels
  Matrix magnitudes_;  // of the kernel
  Vector bias_;
};

}  // namespace

std::unique_ptr<FeatureStep> convolution_step(const Conv2dSpec& spec) {
  return std::make_unique<ConvolutionStep>(spec);
}

}  // namespace mixcert
