// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Convolutions in front of dense layers: VGG-2 and LeNet-5. Each convolution has a relu behind it, some have
// 2x2 pooling behind that, and dropout may follow every pooling. One image at a time: its columns stay in the
// cache, and its own gradient is at hand where VOGN needs the square.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "mixcert/core/rng.h"
#include "train/convolution.h"
#include "train/random_stream.h"
#include "train/train_options.h"

namespace mixcert::lab {

/// Dropout behind every pooling.
struct BlockDropout {
  double rate = 0.0;
  DropoutUnit unit = DropoutUnit::Value;
};

class ConvNet {
 public:
  /// One convolution: its output channels, kernel, padding, and the pooling behind it.
  struct Stage {
    Index channels = 0;
    Index kernel = 3;
    Index padding = 1;
    Pooling pooling = Pooling::None;
  };

  /// `image_shape`: channels, height, width. Throws InvalidArgument, naming the network, where a kernel does
  /// not fit or a pooled side is odd.
  ConvNet(const std::string& name, const std::array<Index, 3>& image_shape, const std::vector<Stage>& stages,
          const BlockDropout& dropout);

  [[nodiscard]] Index inputs() const { return inputs_; }
  [[nodiscard]] Index features() const { return convolutions_.back().result_size(); }
  [[nodiscard]] Index parameter_count() const { return parameter_count_; }
  [[nodiscard]] const BlockDropout& dropout() const { return dropout_; }
  [[nodiscard]] const std::vector<Convolution>& convolutions() const { return convolutions_; }

  /// What the backward pass needs of one image; one entry per convolution.
  struct Pass {
    std::vector<FloatRows> columns;                  ///< [taps, pixels]: patches of the input
    std::vector<FloatRows> responses;                ///< [out, pixels] after relu
    std::vector<std::vector<std::int32_t>> winners;  ///< source of each pooled entry
    std::vector<FloatRows> scales;                   ///< dropout factors; else empty
  };
  /// Without a generator nothing is dropped.
  void forward(const float* parameters, const float* image, Generator* dropout, Pass& pass,
               float* features) const;

  /// Where results are added; null: not wanted.
  struct Sinks {
    float* gradient = nullptr;
    float* squared_gradient = nullptr;  ///< entry by entry, of this image alone
  };
  /// Of a loss whose derivative by the features is given.
  void backward(const float* parameters, const Pass& pass, const float* feature_gradient,
                const Sinks& sinks) const;

  void set_initial_weights(Generator& generator, float* parameters) const;
  [[nodiscard]] double flops_per_example() const;

 private:
  void drop(const Convolution& shape, Generator& generator, FloatRows& pooled, FloatRows& scale) const;

  std::vector<Convolution> convolutions_;
  BlockDropout dropout_;
  Index inputs_ = 0;
  Index parameter_count_ = 0;
};

/// The convolutions that a backbone stands for; `backbone` must not be None.
///     vgg2    two blocks of 3x3, relu, 3x3, relu, pooling (max); 32 and 64 channels, padding 1
///     lenet5  6 channels 5x5, padding 2, relu, pooling (average); 16 channels 5x5, relu, pooling
ConvNet make_backbone(Backbone backbone, BackbonePooling pooling, const std::array<Index, 3>& image_shape,
                      const BlockDropout& dropout);

}  // namespace mixcert::lab
