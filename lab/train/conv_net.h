// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The VGG-2 backbone: two blocks of (3x3 convolution, relu) twice and 2x2 max pooling, with 32 and
// 64 channels, stride 1, zero padding 1; optional dropout after each pooling. A 3x32x32 image gives
// 64x8x8 = 4096 features (channel, row, column). One image at a time: its columns stay in the cache.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mixcert/core/rng.h"
#include "train/random_stream.h"

namespace mixcert::lab {

class ConvNet {
 public:
  static constexpr std::size_t kConvolutions = 4;

  struct Convolution {
    std::string name;  ///< "conv0"..
    Index in = 0, out = 0;
    Index height = 0, width = 0;  ///< of input and output alike
    bool pooled = false;          ///< 2x2 max pooling follows
    Index offset = 0;             ///< of weight [out, in, 3, 3], then bias [out], in the flat parameters

    [[nodiscard]] Index pixels() const { return height * width; }
    [[nodiscard]] Index taps() const { return in * 9; }
    [[nodiscard]] Index result_size() const { return out * pixels() / (pooled ? 4 : 1); }
  };

  /// `image_shape`: channels, height, width; throws InvalidArgument unless 4 divides both lengths.
  ConvNet(const std::array<Index, 3>& image_shape, double dropout_rate);

  [[nodiscard]] Index inputs() const { return inputs_; }
  [[nodiscard]] Index features() const { return convolutions_.back().result_size(); }
  [[nodiscard]] Index parameter_count() const { return parameter_count_; }
  [[nodiscard]] double dropout_rate() const { return dropout_rate_; }
  [[nodiscard]] const std::array<Convolution, kConvolutions>& convolutions() const { return convolutions_; }

  /// What the backward pass needs of one image.
  struct Pass {
    std::array<FloatRows, kConvolutions> columns;                  ///< [in*9, pixels]: patches of the input
    std::array<FloatRows, kConvolutions> responses;                ///< [out, pixels] after relu
    std::array<std::vector<std::int32_t>, kConvolutions> winners;  ///< source of each pooled entry
    std::array<FloatRows, kConvolutions> scales;                   ///< dropout factors; else empty
  };
  /// Without a generator nothing is dropped.
  void forward(const float* parameters, const float* image, Generator* dropout, Pass& pass,
               float* features) const;
  /// Adds to `gradient` the gradient of a loss whose derivative by the features is given.
  void backward(const float* parameters, const Pass& pass, const float* feature_gradient,
                float* gradient) const;

  void set_initial_weights(Generator& generator, float* parameters) const;
  [[nodiscard]] double flops_per_example() const;

 private:
  std::array<Convolution, kConvolutions> convolutions_;
  double dropout_rate_;
  Index inputs_ = 0;
  Index parameter_count_ = 0;
};

}  // namespace mixcert::lab
