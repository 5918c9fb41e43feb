// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/graph_cases.h"

#include <array>
#include <cmath>

#include "support/random_specs.h"

namespace mixcert::testing {
Conv2dSpec convolution(Generator& generator, const LayerShape& shape, Index out, Index kernel, Index padding,
                       double noise, const std::string& name) {
  Conv2dSpec spec{name,
                  shape.channels,
                  out,
                  shape.image,
                  {{kernel, kernel}, {1, 1}, {padding, padding}, {1, 1}},
                  1,
                  {},
                  {},
                  {},
                  {}};
  const Index taps = kernel * kernel * shape.channels;
  const double size = std::sqrt(2.0 / static_cast<double>(taps));
  spec.kernel_mean = size * random_vector(generator, out * taps);
  spec.kernel_variance = Vector::Constant(out * taps, noise * noise * size * size);
  spec.bias_variance = Vector::Constant(out, 1e-4 * noise * noise);
  return spec;
}

DenseSpec dense(Generator& generator, Index inputs, Index outputs, double noise, const std::string& name) {
  const double size = std::sqrt(2.0 / static_cast<double>(inputs));
  return {DenseLayer(name, size * random_matrix(generator, outputs, inputs), Vector::Zero(outputs),
                     MeanFieldWeights{Matrix::Constant(outputs, inputs, noise * noise * size * size)},
                     DeterministicBias{})};
}

LayerSpec pool(bool is_maximum, Index size) {
  const Window2d window{{size, size}, {size, size}, {0, 0}, {1, 1}};
  if (is_maximum) return MaxPool2dSpec{window};
  return AvgPool2dSpec{window};
}

GraphCase small_graph_case(std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Example, 2910);
  const double noise = std::pow(10.0, -2.0 + 0.5 * static_cast<double>(seed % 4));
  const LayerShape image{1, {4, 4}, true};
  const Index channels = 1 + static_cast<Index>(seed % 3);
  std::vector<LayerSpec> layers = {
      convolution(generator, image, channels, 3, 1, noise, "c0"),
      activation_spec(seed % 2 == 0 ? ActivationFunction::Relu : ActivationFunction::Tanh)};
  if (seed % 3 == 0)
    layers.emplace_back(
        ResidualSpec{{convolution(generator, {channels, {4, 4}, true}, channels, 3, 1, noise, "c1"),
                      activation_spec(ActivationFunction::Relu)}});
  layers.push_back(pool(seed % 2 == 0, 2));
  layers.emplace_back(FlattenSpec{});
  layers.emplace_back(dense(generator, layer_shapes(layers).back().size(), 2, noise, "head"));
  return {build_graph(layers), random_vector(generator, 16)};
}

namespace {

/// A list that grows layer by layer, weights of a noise of its own.
class RandomList {
 public:
  explicit RandomList(std::uint64_t seed, bool is_masked = false)
      : generator_(make_generator(seed, Stream::Example, is_masked ? 2915 : 2913)), is_masked_(is_masked) {
    shape_ = {random_index(generator_, 1, 2),
              {random_index(generator_, 3, 7), random_index(generator_, 3, 7)},
              true};
    inputs_ = shape_.size();
    noise_ = std::pow(10.0, -0.25 * static_cast<double>(random_index(generator_, 0, 10)));
  }

  GraphCase make() {
    add(own_convolution());
    for (Index i = random_index(generator_, 2, is_masked_ ? 4 : 6); i > 0; --i) add_image_layer();
    if (is_masked_) add(mask());
    add(FlattenSpec{});
    add(dense(generator_, shape_.size(), random_index(generator_, 2, 8), noise_, name()));
    add(activation_spec(pick()));
    if (is_masked_ && random_index(generator_, 0, 1) > 0) add(DropoutSpec{rate()});
    add(dense(generator_, shape_.size(), random_index(generator_, 1, 3), noise_, name()));
    return {build_graph(layers_), random_vector(generator_, inputs_)};
  }

 private:
  std::string name() { return "layer" + std::to_string(++count_); }
  void add(LayerSpec spec) {
    shape_ = shape_after(spec, shape_);
    layers_.push_back(std::move(spec));
  }
  ActivationFunction pick() {
    const auto& all = all_activation_functions();
    return all[static_cast<std::size_t>(random_index(generator_, 0, static_cast<Index>(all.size()) - 1))];
  }
  Conv2dSpec scaled(Conv2dSpec spec) {
    spec.kernel_variance *= noise_ * noise_;
    spec.bias_variance *= noise_ * noise_;
    return spec;
  }
  Conv2dSpec own_convolution() { return scaled(random_convolution(generator_, shape_, true, name())); }
  Conv2dSpec same() {
    return scaled(same_convolution(generator_, shape_, random_index(generator_, 0, 2) > 0, name()));
  }

  double rate() {
    return std::array{0.02, 0.1, 0.3, 0.5, 0.8}[static_cast<std::size_t>(random_index(generator_, 0, 4))];
  }
  LayerSpec mask() {
    switch (random_index(generator_, 0, 2)) {
      case 0:
        return DropoutSpec{rate()};
      case 1:
        return Dropout2dSpec{rate()};
      default:
        return GaussianDropoutSpec{0.3};
    }
  }

  void add_image_layer() {
    if (is_masked_ && random_index(generator_, 0, 3) == 0) return add(ResidualSpec{{same(), mask()}});
    switch (random_index(generator_, 0, 6)) {
      case 0:
        return add(AvgPool2dSpec{random_window(generator_, shape_.image, true)});
      case 1:
        return add(MaxPool2dSpec{random_window(generator_, shape_.image, true)});
      case 2:
        return add(random_batch_norm(generator_, shape_.channels, name()));
      case 3:
        return add(ResidualSpec{{same(), activation_spec(pick())}});
      case 4:
        return add(ResidualSpec{{activation_spec(pick()), same()}, {same()}});
      case 5:
        return add(own_convolution());
      default:
        return add(activation_spec(pick()));
    }
  }

  Generator generator_;
  LayerShape shape_;
  bool is_masked_ = false;
  Index inputs_ = 0, count_ = 0;
  double noise_ = 1.0;
  std::vector<LayerSpec> layers_;
};

}  // namespace

GraphCase random_case(std::uint64_t seed) { return RandomList(seed).make(); }

GraphCase masked_random_case(std::uint64_t seed) { return RandomList(seed, true).make(); }

GraphCase masked_case(std::uint64_t seed, const LayerSpec& mask, Index outputs) {
  Generator generator = make_generator(seed, Stream::Example, 2940);
  const std::vector<LayerSpec> layers = {convolution(generator, {1, {4, 4}, true}, 6, 3, 1, 0.05, "c0"),
                                         activation_spec(ActivationFunction::Relu), mask, FlattenSpec{},
                                         dense(generator, 96, outputs, 0.05, "head")};
  return {build_graph(layers), random_vector(generator, 16)};
}

std::vector<LayerSpec> lenet_layers(double noise, bool is_maximum) {
  Generator generator = make_generator(5, Stream::Example, 2912);
  return {convolution(generator, {1, {28, 28}, true}, 6, 5, 2, noise, "c0"),
          activation_spec(ActivationFunction::Relu),
          pool(is_maximum, 2),
          convolution(generator, {6, {14, 14}, true}, 16, 5, 0, noise, "c1"),
          activation_spec(ActivationFunction::Relu),
          pool(is_maximum, 2),
          FlattenSpec{},
          dense(generator, 400, 120, noise, "f0"),
          activation_spec(ActivationFunction::Relu),
          dense(generator, 120, 84, noise, "f1"),
          activation_spec(ActivationFunction::Relu),
          dense(generator, 84, 10, noise, "f2")};
}

Vector lenet_input() {
  Generator generator = make_generator(6, Stream::Example, 2912);
  Vector input = random_vector(generator, 784).cwiseAbs();
  for (double& pixel : input) pixel = pixel > 1.2 ? 0.5 : 0.0;
  return input;
}

GraphCase lenet(double noise, bool is_maximum) {
  return {build_graph(lenet_layers(noise, is_maximum)), lenet_input()};
}

Matrix naive_slopes(const GraphCase& at, BlockRandomness randomness) {
  const double step = 1e-6;
  const Vector y = run_block(at.graph, at.input, randomness).col(0);
  std::vector<Vector> columns;
  for (Matrix& numbers : randomness.numbers) {
    for (Index i = 0; i < numbers.rows(); ++i) {
      numbers(i, 0) += step;
      columns.emplace_back((run_block(at.graph, at.input, randomness).col(0) - y) / step);
      numbers(i, 0) -= step;
    }
  }
  Matrix jacobian(y.size(), static_cast<Index>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k) jacobian.col(static_cast<Index>(k)) = columns[k];
  return jacobian;
}

}  // namespace mixcert::testing
