// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers with means drawn at He's scale.
#include "train/untrained.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "statistics/simulate/normal_source.h"
#include "train/conv_net.h"

namespace mixcert::lab {
namespace {

constexpr Index kLongestSide = 4096;
/// Variance of means times inputs: in front of a relu, and of the output.
constexpr double kReluGain = 2.0;
constexpr double kOutputGain = 1.0;

std::array<Index, 3> parse_image(const std::string& text) {
  std::array<Index, 3> sizes{};
  std::istringstream stream(text);
  char first = 0;
  char second = 0;
  const bool read = static_cast<bool>(stream >> sizes[0] >> first >> sizes[1] >> second >> sizes[2]);
  bool right =
      read && stream.peek() == std::istringstream::traits_type::eof() && first == 'x' && second == 'x';
  for (const Index size : sizes) right = right && size >= 1 && size <= kLongestSide;
  if (!right) bad_option("image", "channels, height and width such as 3x32x32", text);
  return sizes;
}

/// Draws layers one after the other and keeps the shape between them.
class LayerDrawer {
 public:
  explicit LayerDrawer(const UntrainedOptions& options)
      : options_(options),
        image_(options.image_shape()),
        generator_(train_generator(options.seed, TrainStream::InitialWeights)) {}

  void convolve(std::vector<LayerSpec>& layers, const std::string& name, Index channels, Index kernel,
                Index stride, Index padding) {
    const auto [in, height, width] = image_;
    Conv2dSpec spec;
    spec.name = name;
    spec.in = in;
    spec.out = channels;
    spec.image = {height, width};
    spec.window = {{kernel, kernel}, {stride, stride}, {padding, padding}, {1, 1}};
    const Index taps = in * kernel * kernel;
    spec.kernel_mean = draw(channels, taps, kReluGain).reshaped();
    spec.bias_mean = Vector::Zero(channels);
    if (options_.deviation > 0.0) {
      spec.kernel_variance = Vector::Constant(channels * taps, variance(spec.kernel_mean));
      spec.bias_variance = Vector::Constant(channels, variance(spec.kernel_mean));
    }
    const Size2d size = window_positions(spec.window, spec.image);
    image_ = {channels, size.height, size.width};
    layers.emplace_back(std::move(spec));
  }

  void pool(std::vector<LayerSpec>& layers, Index kernel, Index stride, bool average) {
    const Window2d window{{kernel, kernel}, {stride, stride}, {0, 0}, {1, 1}};
    if (average) {
      layers.emplace_back(AvgPool2dSpec{window});
    } else {
      layers.emplace_back(MaxPool2dSpec{window});
    }
    const Size2d size = window_positions(window, {image_[1], image_[2]});
    image_ = {image_[0], size.height, size.width};
  }

  void activate(std::vector<LayerSpec>& layers) const {
    layers.emplace_back(ActivationSpec{Activation(ActivationFunction::Relu)});
  }

  void drop(std::vector<LayerSpec>& layers) const {
    if (options_.dropout == 0.0) return;
    if (options_.dropout_unit == DropoutUnit::Channel) {
      layers.emplace_back(Dropout2dSpec{options_.dropout});
    } else {
      layers.emplace_back(DropoutSpec{options_.dropout});
    }
  }

  /// Flattens, then dense layers of these sizes with relu between them.
  void finish(std::vector<LayerSpec>& layers, std::vector<Index> sizes) {
    layers.emplace_back(FlattenSpec{});
    sizes.push_back(options_.outputs);
    Index inputs = image_[0] * image_[1] * image_[2];
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      if (k > 0) activate(layers);
      layers.emplace_back(dense(std::to_string(k), inputs, sizes[k], k + 1 == sizes.size()));
      inputs = sizes[k];
    }
  }

  [[nodiscard]] const std::array<Index, 3>& image() const { return image_; }
  void set_image(const std::array<Index, 3>& image) { image_ = image; }

 private:
  Matrix draw(Index outputs, Index inputs, double gain) {
    Matrix mean(outputs, inputs);
    fill_normal(generator_, mean);
    return mean * std::sqrt(gain / static_cast<double>(inputs));
  }

  [[nodiscard]] double variance(const Eigen::Ref<const Matrix>& means) const {
    return options_.deviation * options_.deviation * means.squaredNorm() / static_cast<double>(means.size());
  }

  DenseSpec dense(const std::string& name, Index inputs, Index outputs, bool last) {
    Matrix mean = draw(outputs, inputs, last ? kOutputGain : kReluGain);
    if (options_.deviation == 0.0) {
      return {DenseLayer(name, std::move(mean), Vector::Zero(outputs), DeterministicWeights{},
                         DeterministicBias{})};
    }
    const double v = variance(mean);
    return {DenseLayer(name, std::move(mean), Vector::Zero(outputs),
                       MeanFieldWeights{Matrix::Constant(outputs, inputs, v)},
                       IndependentBias{Vector::Constant(outputs, v)})};
  }

  const UntrainedOptions& options_;
  std::array<Index, 3> image_;
  Generator generator_;
};

std::vector<LayerSpec> backbone_layers(const UntrainedOptions& options, Backbone backbone,
                                       std::vector<Index> head) {
  const ConvNet net = make_backbone(backbone, options.pooling, options.image_shape(), {});
  LayerDrawer drawer(options);
  std::vector<LayerSpec> layers;
  for (const Convolution& shape : net.convolutions()) {
    drawer.convolve(layers, shape.name, shape.out, shape.kernel, 1, shape.padding);
    drawer.activate(layers);
    if (!shape.is_pooled()) continue;
    drawer.pool(layers, 2, 2, shape.pooling == Pooling::Average);
    drawer.drop(layers);
  }
  drawer.finish(layers, std::move(head));
  return layers;
}

/// Three convolutions with overlapping maxima, two dense layers of 1000.
std::vector<LayerSpec> three_and_three_layers(const UntrainedOptions& options) {
  LayerDrawer drawer(options);
  std::vector<LayerSpec> layers;
  for (Index k = 0; k < 3; ++k) {
    drawer.convolve(layers, "conv" + std::to_string(k), Index{32} << k, 5, 1, k < 2 ? 2 : 1);
    drawer.activate(layers);
    drawer.pool(layers, 3, 2, options.pooling == BackbonePooling::Average);
    drawer.drop(layers);
  }
  drawer.finish(layers, {1000, 1000});
  return layers;
}

/// relu(S(x) + F(x)); S is a convolution of one pixel where channels or size change.
void append_block(LayerDrawer& drawer, const std::string& name, Index channels, Index stride,
                  std::vector<LayerSpec>& layers) {
  const std::array<Index, 3> before = drawer.image();
  ResidualSpec block;
  drawer.convolve(block.layers, name + ".conv0", channels, 3, stride, 1);
  drawer.activate(block.layers);
  drawer.drop(block.layers);
  drawer.convolve(block.layers, name + ".conv1", channels, 3, 1, 1);
  if (stride != 1 || before[0] != channels) {
    drawer.set_image(before);
    drawer.convolve(block.skip.layers, name + ".skip", channels, 1, stride, 0);
  }
  layers.emplace_back(std::move(block));
  drawer.activate(layers);
}

std::vector<LayerSpec> residual_layers(const UntrainedOptions& options) {
  constexpr Index kStages = 3;
  constexpr Index kBlocks = 3;
  LayerDrawer drawer(options);
  std::vector<LayerSpec> layers;
  drawer.convolve(layers, "conv0", 16, 3, 1, 1);
  drawer.activate(layers);
  for (Index k = 0; k < kStages * kBlocks; ++k) {
    const Index stage = k / kBlocks;
    const bool halves = k % kBlocks == 0 && stage > 0;
    append_block(drawer, "block" + std::to_string(k), 16 << stage, halves ? 2 : 1, layers);
  }
  if (drawer.image()[1] != drawer.image()[2]) bad_option("image", "a square image", options.image);
  drawer.pool(layers, drawer.image()[1], drawer.image()[1], options.pooling != BackbonePooling::Max);
  drawer.finish(layers, {});
  return layers;
}

}  // namespace

std::array<Index, 3> UntrainedOptions::image_shape() const {
  if (!image.empty()) return parse_image(image);
  if (network == UntrainedNetwork::Lenet5) return {1, 28, 28};
  return {3, 32, 32};
}

const OptionTable<UntrainedOptions>& untrained_option_table() {
  static const OptionTable<UntrainedOptions> table = {
      choice_option<UntrainedOptions, UntrainedNetwork>("network", &UntrainedOptions::network,
                                                        {{UntrainedNetwork::Lenet5, "lenet5"},
                                                         {UntrainedNetwork::Vgg2, "vgg2"},
                                                         {UntrainedNetwork::Conv3Dense3, "3conv3fc"},
                                                         {UntrainedNetwork::Resnet20, "resnet20"}},
                                                        "layers and sizes"),
      text_option<UntrainedOptions>("image", &UntrainedOptions::image, "CxHxW",
                                    "channels, height and width such as 3x32x32",
                                    "inputs; else 1x28x28 (lenet5) or 3x32x32", parse_image),
      integer_option<UntrainedOptions, Index>("outputs", &UntrainedOptions::outputs, 1, 1'000'000,
                                              "of the network"),
      range_option<UntrainedOptions>("deviation", &UntrainedOptions::deviation, 0.0, 1e6,
                                     "of weights, in root mean squares of their means"),
      choice_option<UntrainedOptions, BackbonePooling>("pooling", &UntrainedOptions::pooling,
                                                       {{BackbonePooling::Usual, "usual"},
                                                        {BackbonePooling::Max, "max"},
                                                        {BackbonePooling::Average, "average"}},
                                                       "usual: max in vgg2 and 3conv3fc, else average"),
      range_option<UntrainedOptions>("dropout", &UntrainedOptions::dropout, 0.0, 1.0,
                                     "rate behind pooling; resnet20: in every block"),
      choice_option<UntrainedOptions, DropoutUnit>(
          "dropout-unit", &UntrainedOptions::dropout_unit,
          {{DropoutUnit::Value, "value"}, {DropoutUnit::Channel, "channel"}},
          "what one factor of it multiplies"),
      integer_option<UntrainedOptions, std::uint64_t>(
          "seed", &UntrainedOptions::seed, 0, std::numeric_limits<std::uint64_t>::max(), "of the means"),
  };
  return table;
}

std::vector<LayerSpec> untrained_layers(const UntrainedOptions& options) {
  switch (options.network) {
    case UntrainedNetwork::Lenet5:
      return backbone_layers(options, Backbone::Lenet5, {120, 84});
    case UntrainedNetwork::Vgg2:
      return backbone_layers(options, Backbone::Vgg2, {128});
    case UntrainedNetwork::Conv3Dense3:
      return three_and_three_layers(options);
    case UntrainedNetwork::Resnet20:
      break;
  }
  return residual_layers(options);
}

}  // namespace mixcert::lab
