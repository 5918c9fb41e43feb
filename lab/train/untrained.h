// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Convolutional networks that nothing was trained on: random means of He's scale, and around them independent
// Gaussian weights. They show what a network of a size costs and how its bound depends on the noise of its
// weights, without data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mixcert/core/option_table.h"
#include "mixcert/network/layer_spec.h"
#include "train/train_options.h"

namespace mixcert::lab {

enum class UntrainedNetwork {
  Lenet5,       ///< convolutions of lenet5 (conv_net.h), dense 120, 84
  Vgg2,         ///< convolutions of vgg2, dense 128
  Conv3Dense3,  ///< 32, 64, 128 channels 5x5, maxima 3x3 with stride 2, dense 1000, 1000
  Resnet20,     ///< He, Zhang, Ren, Sun 2016 for CIFAR-10, batch norms left out, projection skips
};

struct UntrainedOptions {
  UntrainedNetwork network = UntrainedNetwork::Resnet20;
  /// "3x32x32"; empty: 1x28x28 for lenet5, else 3x32x32.
  std::string image;
  Index outputs = 10;
  /// Deviation of every weight and bias, divided by the root mean square of the means of its layer's weights.
  /// 0: not random.
  double deviation = 0.02;
  BackbonePooling pooling = BackbonePooling::Usual;
  /// Behind every pooling, in resnet20 between the two convolutions of a block.
  double dropout = 0.0;
  DropoutUnit dropout_unit = DropoutUnit::Value;
  std::uint64_t seed = 0;

  /// Channels, height, width.
  [[nodiscard]] std::array<Index, 3> image_shape() const;
};

const OptionTable<UntrainedOptions>& untrained_option_table();

/// Throws InvalidArgument where the image does not fit the network.
std::vector<LayerSpec> untrained_layers(const UntrainedOptions& options);

}  // namespace mixcert::lab
