// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Convolutions as products of the kernel matrix with the matrix of patches. Measured on one core, the
// whole of VGG-2, patches and pooling included: 44 GFLOP/s forward, 48 backward. libtorch on its second
// convolution alone: 20 and 28 with OpenBLAS, 9 with oneDNN, 4 and 3 without either.
#include "train/conv_net.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/error.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert::lab {
namespace {

using ConstRowsMap = Eigen::Map<const FloatRows>;
using RowsMap = Eigen::Map<FloatRows>;
using VectorMap = Eigen::Map<FloatVector>;

ConstRowsMap kernel(const Convolution& shape, const float* parameters) {
  return {parameters + shape.offset, shape.out, shape.taps()};
}

bool fits(const Convolution& shape) {
  const Index height = shape.result_height();
  const Index width = shape.result_width();
  const bool even = height % 2 == 0 && width % 2 == 0;
  return shape.in > 0 && height > 0 && width > 0 && (even || !shape.is_pooled());
}

/// The gradient by the kernel of one image is d columns', that by the bias the sum of d over the pixels.
void add_gradients(const Convolution& shape, const FloatRows& d, const FloatRows& columns,
                   const ConvNet::Sinks& sinks) {
  if (sinks.gradient != nullptr) {
    RowsMap(sinks.gradient + shape.offset, shape.out, shape.taps()).noalias() += d * columns.transpose();
    VectorMap(sinks.gradient + shape.bias_offset(), shape.out) += d.rowwise().sum();
  }
  if (sinks.squared_gradient != nullptr) {
    const FloatRows product = d * columns.transpose();
    RowsMap(sinks.squared_gradient + shape.offset, shape.out, shape.taps()) += product.cwiseAbs2();
    const FloatVector sums = d.rowwise().sum();
    VectorMap(sinks.squared_gradient + shape.bias_offset(), shape.out) += sums.cwiseAbs2();
  }
}

}  // namespace

ConvNet::ConvNet(const std::string& name, const std::array<Index, 3>& image_shape,
                 const std::vector<Stage>& stages, const BlockDropout& dropout)
    : dropout_(dropout) {
  require(!stages.empty(), "ConvNet: expected at least one convolution, got none");
  auto [in, height, width] = image_shape;
  inputs_ = in * height * width;
  for (const Stage& stage : stages) {
    const Convolution shape{"conv" + std::to_string(convolutions_.size()),
                            in,
                            stage.channels,
                            height,
                            width,
                            stage.kernel,
                            stage.padding,
                            stage.pooling,
                            parameter_count_};
    if (!fits(shape)) {
      throw InvalidArgument("backbone " + name + ": expected images that " + shape.name +
                            " and the pooling fit, got " + std::to_string(image_shape[0]) + "x" +
                            std::to_string(image_shape[1]) + "x" + std::to_string(image_shape[2]));
    }
    parameter_count_ += shape.parameter_count();
    const Index shrink = shape.is_pooled() ? 2 : 1;
    in = shape.out;
    height = shape.result_height() / shrink;
    width = shape.result_width() / shrink;
    convolutions_.push_back(shape);
  }
}

void ConvNet::drop(const Convolution& shape, Generator& generator, FloatRows& pooled,
                   FloatRows& scale) const {
  scale.resize(1, pooled.cols());
  if (dropout_.unit == DropoutUnit::Channel) {
    FloatRows channels(1, shape.out);
    fill_dropout_scale(generator, dropout_.rate, channels);
    RowsMap(scale.data(), shape.out, pooled.cols() / shape.out).colwise() = channels.row(0).transpose();
  } else {
    fill_dropout_scale(generator, dropout_.rate, scale);
  }
  pooled.array() *= scale.array();
}

void ConvNet::forward(const float* parameters, const float* image, Generator* dropout, Pass& pass,
                      float* features) const {
  const std::size_t count = convolutions_.size();
  pass.columns.resize(count);
  pass.responses.resize(count);
  pass.winners.resize(count);
  pass.scales.assign(count, FloatRows());
  FloatRows between;
  const float* input = image;
  for (std::size_t k = 0; k < count; ++k) {
    const Convolution& shape = convolutions_[k];
    FloatRows& response = pass.responses[k];
    image_to_columns(shape, input, pass.columns[k]);
    response.noalias() = kernel(shape, parameters) * pass.columns[k];
    response.colwise() += Eigen::Map<const FloatVector>(parameters + shape.bias_offset(), shape.out);
    response = response.cwiseMax(0.0F);
    input = response.data();
    if (!shape.is_pooled()) continue;
    between.resize(1, shape.result_size());
    pool(shape, response, pass.winners[k], between.data());
    if (dropout != nullptr && dropout_.rate > 0.0) drop(shape, *dropout, between, pass.scales[k]);
    input = between.data();
  }
  std::copy(input, input + this->features(), features);
}

void ConvNet::backward(const float* parameters, const Pass& pass, const float* feature_gradient,
                       const Sinks& sinks) const {
  FloatRows below = ConstRowsMap(feature_gradient, 1, features());
  FloatRows columns;
  FloatRows d;
  for (std::size_t k = convolutions_.size(); k-- > 0;) {
    const Convolution& shape = convolutions_[k];
    if (shape.is_pooled()) {
      if (pass.scales[k].size() > 0) {
        Eigen::Map<Eigen::ArrayXf>(below.data(), below.size()) *=
            Eigen::Map<const Eigen::ArrayXf>(pass.scales[k].data(), below.size());
      }
      unpool(shape, pass.winners[k], below.data(), d);
    } else {
      d = ConstRowsMap(below.data(), shape.out, shape.pixels());
    }
    d.array() *= (pass.responses[k].array() > 0.0F).cast<float>();
    add_gradients(shape, d, pass.columns[k], sinks);
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
    VectorMap(parameters + shape.offset, numbers.size()) = numbers.col(0).cast<float>();
  }
}

double ConvNet::flops_per_example() const {
  double flops = 0.0;
  for (const Convolution& shape : convolutions_) {
    flops += 2.0 * static_cast<double>(shape.out * shape.taps() * shape.pixels());
  }
  return flops;
}

ConvNet make_backbone(Backbone backbone, BackbonePooling pooling, const std::array<Index, 3>& image_shape,
                      const BlockDropout& dropout) {
  require(backbone != Backbone::None, "make_backbone: expected a backbone, got none");
  const bool lenet = backbone == Backbone::Lenet5;
  const bool average = pooling == BackbonePooling::Average || (pooling == BackbonePooling::Usual && lenet);
  const Pooling behind = average ? Pooling::Average : Pooling::Max;
  if (lenet) return {"lenet5", image_shape, {{6, 5, 2, behind}, {16, 5, 0, behind}}, dropout};
  return {"vgg2",
          image_shape,
          {{32, 3, 1, Pooling::None}, {32, 3, 1, behind}, {64, 3, 1, Pooling::None}, {64, 3, 1, behind}},
          dropout};
}

}  // namespace mixcert::lab
