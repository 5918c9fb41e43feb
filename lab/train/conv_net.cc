// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Convolutions as products of the kernel matrix with the matrix of patches. Measured on one core, the
// whole backbone, patches and pooling included: 44 GFLOP/s forward, 48 backward. libtorch on its second
// convolution alone: 20 and 28 with OpenBLAS, 9 with oneDNN, 4 and 3 without either.
#include "train/conv_net.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/error.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert::lab {
namespace {

using Convolution = ConvNet::Convolution;
using ConstRowsMap = Eigen::Map<const FloatRows>;
using RowsMap = Eigen::Map<FloatRows>;

constexpr Index kBlockChannels[2] = {32, 64};

/// Columns x with 0 <= x + shift < width.
struct Span {
  Index begin, end;
};
Span valid_span(Index shift, Index width) {
  return {std::max<Index>(0, -shift), std::min(width, width - shift)};
}

/// Row c*9 + ky*3 + kx holds pixel (y+ky-1, x+kx-1) of channel c for each (y, x), zero outside.
void image_to_columns(const Convolution& shape, const float* image, FloatRows& columns) {
  columns.setZero(shape.taps(), shape.pixels());
  for (Index row = 0; row < shape.taps(); ++row) {
    const float* channel = image + (row / 9) * shape.pixels();
    const Index dy = row % 9 / 3 - 1;
    const Index dx = row % 3 - 1;
    const Span x = valid_span(dx, shape.width);
    const Span y = valid_span(dy, shape.height);
    for (Index line = y.begin; line < y.end; ++line) {
      const float* source = channel + (line + dy) * shape.width + dx;
      std::copy(source + x.begin, source + x.end, columns.row(row).data() + line * shape.width + x.begin);
    }
  }
}

/// The transpose of image_to_columns.
void columns_to_image(const Convolution& shape, const FloatRows& columns, FloatRows& image) {
  image.setZero(shape.in, shape.pixels());
  for (Index row = 0; row < shape.taps(); ++row) {
    float* channel = image.row(row / 9).data();
    const Index dy = row % 9 / 3 - 1;
    const Index dx = row % 3 - 1;
    const Span x = valid_span(dx, shape.width);
    const Span y = valid_span(dy, shape.height);
    for (Index line = y.begin; line < y.end; ++line) {
      float* target = channel + (line + dy) * shape.width + dx;
      const float* source = columns.row(row).data() + line * shape.width;
      for (Index i = x.begin; i < x.end; ++i) target[i] += source[i];
    }
  }
}

void max_pool(const Convolution& shape, const FloatRows& response, std::vector<std::int32_t>& winners,
              float* pooled) {
  winners.resize(static_cast<std::size_t>(shape.result_size()));
  std::size_t at = 0;
  for (Index c = 0; c < shape.out; ++c) {
    for (Index y = 0; y < shape.height; y += 2) {
      for (Index x = 0; x < shape.width; x += 2, ++at) {
        const Index corner = c * shape.pixels() + y * shape.width + x;
        Index best = corner;
        for (const Index other : {corner + 1, corner + shape.width, corner + shape.width + 1}) {
          if (response.data()[other] > response.data()[best]) best = other;
        }
        winners[at] = static_cast<std::int32_t>(best);
        pooled[at] = response.data()[best];
      }
    }
  }
}

ConstRowsMap kernel(const Convolution& shape, const float* parameters) {
  return {parameters + shape.offset, shape.out, shape.taps()};
}

Index bias_offset(const Convolution& shape) { return shape.offset + shape.out * shape.taps(); }

}  // namespace

ConvNet::ConvNet(const std::array<Index, 3>& image_shape, double dropout_rate) : dropout_rate_(dropout_rate) {
  const auto [channels, height, width] = image_shape;
  if (channels < 1 || height < 4 || width < 4 || height % 4 != 0 || width % 4 != 0) {
    throw InvalidArgument("backbone vgg2: expected images whose sides are multiples of 4, got " +
                          std::to_string(channels) + "x" + std::to_string(height) + "x" +
                          std::to_string(width));
  }
  inputs_ = channels * height * width;
  Index in = channels;
  for (std::size_t k = 0; k < kConvolutions; ++k) {
    const Index shrink = k < 2 ? 1 : 2;
    const Index out = kBlockChannels[k / 2];
    convolutions_[k] = {
        "conv" + std::to_string(k), in, out, height / shrink, width / shrink, k % 2 == 1, parameter_count_};
    parameter_count_ += out * (in * 9 + 1);
    in = out;
  }
}

void ConvNet::forward(const float* parameters, const float* image, Generator* dropout, Pass& pass,
                      float* features) const {
  FloatRows between;
  const float* input = image;
  for (std::size_t k = 0; k < kConvolutions; ++k) {
    const Convolution& shape = convolutions_[k];
    FloatRows& response = pass.responses[k];
    image_to_columns(shape, input, pass.columns[k]);
    response.noalias() = kernel(shape, parameters) * pass.columns[k];
    response.colwise() += Eigen::Map<const FloatVector>(parameters + bias_offset(shape), shape.out);
    response = response.cwiseMax(0.0F);
    input = response.data();
    if (!shape.pooled) continue;
    between.resize(1, shape.result_size());
    max_pool(shape, response, pass.winners[k], between.data());
    pass.scales[k].resize(0, 0);
    if (dropout != nullptr && dropout_rate_ > 0.0) {
      pass.scales[k].resize(1, between.cols());
      fill_dropout_scale(*dropout, dropout_rate_, pass.scales[k]);
      between.array() *= pass.scales[k].array();
    }
    input = between.data();
  }
  std::copy(input, input + this->features(), features);
}

void ConvNet::backward(const float* parameters, const Pass& pass, const float* feature_gradient,
                       float* gradient) const {
  FloatRows below = ConstRowsMap(feature_gradient, 1, features());
  FloatRows columns;
  for (std::size_t k = kConvolutions; k-- > 0;) {
    const Convolution& shape = convolutions_[k];
    FloatRows d = FloatRows::Zero(shape.out, shape.pixels());
    if (shape.pooled) {
      if (pass.scales[k].size() > 0) {
        Eigen::Map<Eigen::ArrayXf>(below.data(), below.size()) *=
            Eigen::Map<const Eigen::ArrayXf>(pass.scales[k].data(), below.size());
      }
      for (Index i = 0; i < below.size(); ++i) {
        d.data()[pass.winners[k][static_cast<std::size_t>(i)]] = below.data()[i];
      }
    } else {
      d = below;
    }
    d.array() *= (pass.responses[k].array() > 0.0F).cast<float>();
    RowsMap(gradient + shape.offset, shape.out, shape.taps()).noalias() += d * pass.columns[k].transpose();
    Eigen::Map<FloatVector>(gradient + bias_offset(shape), shape.out) += d.rowwise().sum();
    if (k == 0) return;
    columns.noalias() = kernel(shape, parameters).transpose() * d;
    columns_to_image(shape, columns, below);
  }
}

void ConvNet::set_initial_weights(Generator& generator, float* parameters) const {
  std::fill(parameters, parameters + parameter_count_, 0.0F);
  for (const Convolution& shape : convolutions_) {
    Matrix numbers(shape.out * shape.taps(), 1);
    fill_normal(generator, numbers);
    numbers *= std::sqrt(2.0 / static_cast<double>(shape.taps()));
    Eigen::Map<FloatVector>(parameters + shape.offset, numbers.size()) = numbers.col(0).cast<float>();
  }
}

double ConvNet::flops_per_example() const {
  double flops = 0.0;
  for (const Convolution& shape : convolutions_) {
    flops += 2.0 * static_cast<double>(shape.out * shape.taps() * shape.pixels());
  }
  return flops;
}

}  // namespace mixcert::lab
