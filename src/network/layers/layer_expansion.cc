// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Convolutions, average pooling and batch norm as matrices (L.2), (L.3).
#include "network/layers/layer_expansion.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "network/layers/layer_transforms.h"
#include "network/layers/window_taps.h"

namespace mixcert {
namespace {

std::string mebibytes(double bytes) { return format_number(std::ceil(bytes / 1048576.0)) + " MiB"; }

/// Rows are (output channel, position), columns (input channel, pixel); parameters are kernel entries and
/// behind them one per bias.
class ConvolutionExpansion {
 public:
  explicit ConvolutionExpansion(const Conv2dSpec& spec)
      : spec_(spec),
        out_image_(window_positions(spec.window, spec.image)),
        positions_(out_image_.height * out_image_.width),
        pixels_(spec.image.height * spec.image.width),
        taps_(spec.window.kernel.height * spec.window.kernel.width),
        group_channels_(spec.in / spec.groups) {}

  [[nodiscard]] Index rows() const { return spec_.out * positions_; }
  [[nodiscard]] Index columns() const { return spec_.in * pixels_; }
  [[nodiscard]] double place_bytes() const {
    return static_cast<double>(rows()) * static_cast<double>(group_channels_ * taps_ + 1) *
           static_cast<double>(sizeof(SharedWeights::Place));
  }

  [[nodiscard]] Matrix mean() const {
    Matrix matrix = Matrix::Zero(rows(), columns());
    for_each_entry([&](Index row, Index column, Index parameter) {
      matrix(row, column) = spec_.kernel_mean(parameter);
    });
    return matrix;
  }

  [[nodiscard]] Vector bias() const {
    Vector values = Vector::Zero(rows());
    for (Index i = 0; i < spec_.bias_mean.size() * positions_; ++i)
      values(i) = spec_.bias_mean(i / positions_);
    return values;
  }

  [[nodiscard]] WeightCovariance law() const {
    if (is_deterministic(spec_)) return DeterministicWeights{};
    SharedWeights law;
    const Index kernel = spec_.kernel_variance.size();
    law.variance.resize(kernel + spec_.bias_variance.size());
    law.variance << spec_.kernel_variance, spec_.bias_variance;
    if (kernel > 0) {
      for_each_entry([&](Index row, Index column, Index parameter) {
        law.places.push_back({row, column, parameter});
      });
    }
    for (Index i = 0; i < spec_.bias_variance.size() * positions_; ++i) {
      law.places.push_back({i, columns(), kernel + i / positions_});
    }
    std::stable_sort(law.places.begin(), law.places.end(),
                     [](const auto& a, const auto& b) { return a.row < b.row; });
    law.rows_per_group = positions_;
    return law;
  }

 private:
  template <class Visit>
  void for_each_entry(Visit visit) const {
    const Index group_outputs = spec_.out / spec_.groups;
    for (Index out = 0; out < spec_.out; ++out) {
      const Index first_channel = out / group_outputs * group_channels_;
      for (Index channel = 0; channel < group_channels_; ++channel) {
        const Index kernel = (out * group_channels_ + channel) * taps_;
        const Index plane = (first_channel + channel) * pixels_;
        for_each_tap(spec_.window, spec_.image, [&](Index position, Index tap, Index pixel) {
          visit(out * positions_ + position, plane + pixel, kernel + tap);
        });
      }
    }
  }

  const Conv2dSpec& spec_;
  Size2d out_image_;
  Index positions_;
  Index pixels_;
  Index taps_;
  Index group_channels_;
};

}  // namespace

void MemoryBudget::take(const std::string& what, double bytes) {
  if (bytes > left_) {
    throw ResourceError(what + " needs " + mebibytes(bytes) + " written out as a matrix, " +
                        mebibytes(left_) + " of " + mebibytes(max_bytes_) + " are left");
  }
  left_ -= bytes;
}

DenseLayer expand_convolution(const Conv2dSpec& spec, MemoryBudget& budget) {
  const ConvolutionExpansion expansion(spec);
  const std::string who = "conv2d '" + spec.name + "'";
  budget.take_matrix(who, expansion.rows(), expansion.columns());
  if (!is_deterministic(spec)) budget.take(who, expansion.place_bytes());
  return {spec.name, expansion.mean(), expansion.bias(), expansion.law(), DeterministicBias{}};
}

DenseLayer expand_average_pool(const Window2d& window, const LayerShape& shape, MemoryBudget& budget) {
  const Size2d out = window_positions(window, shape.image);
  const Index positions = out.height * out.width;
  budget.take_matrix("avg_pool2d", shape.channels * positions, shape.size());
  Matrix matrix = Matrix::Zero(shape.channels * positions, shape.size());
  const double share = 1.0 / static_cast<double>(window.kernel.height * window.kernel.width);
  for (Index channel = 0; channel < shape.channels; ++channel) {
    for_each_tap(window, shape.image, [&](Index position, Index /*tap*/, Index pixel) {
      matrix(channel * positions + position, channel * shape.positions() + pixel) = share;
    });
  }
  Vector bias = Vector::Zero(matrix.rows());
  return {"avg_pool2d", std::move(matrix), std::move(bias), DeterministicWeights{}, DeterministicBias{}};
}

BatchNormScale batch_norm_scale(const BatchNormSpec& spec, const LayerShape& shape) {
  const Vector scale = spec.weight.array() / (spec.running_variance.array() + spec.epsilon).sqrt();
  const Vector shift = spec.bias - scale.cwiseProduct(spec.running_mean);
  const auto spread = [&](const Vector& values) -> Vector {
    return values.transpose().replicate(shape.positions(), 1).reshaped();
  };
  return {spread(scale), spread(shift)};
}

}  // namespace mixcert
