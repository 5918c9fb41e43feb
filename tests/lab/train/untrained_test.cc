// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Untrained networks: their layers, the scale of means and deviations, and files that can be read again.
#include "train/untrained.h"

#include <gtest/gtest.h>

#include "io/test_files.h"
#include "mixcert/core/error.h"
#include "mixcert/io/model_file.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert::lab {
namespace untrained_test {

/// Layers of one type, those inside blocks included.
template <class Spec>
std::vector<const Spec*> all_of(const std::vector<LayerSpec>& layers) {
  std::vector<const Spec*> found;
  for (const LayerSpec& layer : layers) {
    if (const auto* spec = std::get_if<Spec>(&layer.variant())) found.push_back(spec);
    if (const auto* block = std::get_if<ResidualSpec>(&layer.variant())) {
      for (const auto* part : {&block->layers, &block->skip.layers}) {
        for (const Spec* spec : all_of<Spec>(*part)) found.push_back(spec);
      }
    }
  }
  return found;
}

TEST(Untrained, Resnet20HasItsTwentyLayersAndTwoProjections) {
  const std::vector<LayerSpec> layers = untrained_layers({});
  const auto convolutions = all_of<Conv2dSpec>(layers);
  EXPECT_EQ(convolutions.size(), 19U + 2U);
  EXPECT_EQ(all_of<DenseSpec>(layers).size(), 1U);
  Index parameters = 0;
  Index projections = 0;
  for (const Conv2dSpec* spec : convolutions) {
    parameters += spec->kernel_mean.size();
    projections += spec->window.kernel.height == 1 ? 1 : 0;
  }
  EXPECT_EQ(projections, 2);
  // 3x3 kernels: 3 to 16 once, 16 to 16 six times, 16 to 32, 32 to 32 five times, 32 to 64, 64 to 64 five
  // times.
  EXPECT_EQ(parameters, 9 * (3 * 16 + 6 * 256 + 512 + 5 * 1024 + 2048 + 5 * 4096) + 512 + 2048);
  const LayerShape last = layer_shapes(layers).back();
  EXPECT_EQ(last.size(), 10);
}

TEST(Untrained, DeviationIsThatOfTheMeansTimesTheOption) {
  UntrainedOptions options;
  options.network = UntrainedNetwork::Lenet5;
  options.deviation = 0.1;
  const std::vector<LayerSpec> layers = untrained_layers(options);
  for (const Conv2dSpec* spec : all_of<Conv2dSpec>(layers)) {
    const double square = spec->kernel_mean.squaredNorm() / static_cast<double>(spec->kernel_mean.size());
    const double taps = static_cast<double>(spec->in * 25);
    EXPECT_NEAR(square * taps, 2.0, 0.6) << spec->name;
    EXPECT_NEAR(spec->kernel_variance.maxCoeff(), 0.01 * square, 1e-12);
    EXPECT_EQ(spec->bias_variance.minCoeff(), spec->kernel_variance.minCoeff());
  }
  EXPECT_EQ(all_of<AvgPool2dSpec>(layers).size(), 2U);
  EXPECT_EQ(input_shape(layers).size(), 784);
}

TEST(Untrained, WithoutDeviationNothingIsRandom) {
  UntrainedOptions options;
  options.deviation = 0.0;
  for (const UntrainedNetwork network : {UntrainedNetwork::Lenet5, UntrainedNetwork::Resnet20}) {
    options.network = network;
    for (const LayerSpec& layer : untrained_layers(options))
      EXPECT_TRUE(is_deterministic(layer)) << title(layer);
  }
  options.dropout = 0.2;
  options.dropout_unit = DropoutUnit::Channel;
  EXPECT_EQ(all_of<Dropout2dSpec>(untrained_layers(options)).size(), 9U);
  options.network = UntrainedNetwork::Vgg2;
  options.dropout_unit = DropoutUnit::Value;
  EXPECT_EQ(all_of<DropoutSpec>(untrained_layers(options)).size(), 2U);
}

TEST(Untrained, FilesAreReadAgainAndSeedsDiffer) {
  const test::TempDirectory directory;
  const std::vector<LayerSpec> layers = untrained_layers({});
  save_layers(directory / "net.safetensors", layers);
  const std::vector<LayerSpec> read = load_layers(directory / "net.safetensors");
  const auto before = all_of<Conv2dSpec>(layers);
  const auto after = all_of<Conv2dSpec>(read);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t k = 0; k < before.size(); ++k) {
    EXPECT_EQ(before[k]->name, after[k]->name);
    EXPECT_EQ(before[k]->kernel_mean, after[k]->kernel_mean);
    EXPECT_EQ(before[k]->kernel_variance, after[k]->kernel_variance);
  }
  UntrainedOptions other;
  other.seed = 1;
  const std::vector<LayerSpec> drawn = untrained_layers(other);
  EXPECT_NE(all_of<Conv2dSpec>(drawn)[0]->kernel_mean, before[0]->kernel_mean);
}

/// Blocks, projections and masks as one network: draws scatter around those without any noise.
TEST(Untrained, Resnet20CanBeDrawnFrom) {
  const test::TempDirectory directory;
  const auto draws = [&directory](double deviation, double dropout) {
    UntrainedOptions options;
    options.image = "3x8x8";
    options.deviation = deviation;
    options.dropout = dropout;
    save_layers(directory / "net.safetensors", untrained_layers(options));
    SimulationOptions simulation;
    simulation.samples = 4;
    return simulate(load_network(directory / "net.safetensors"), Vector::Ones(192), 0, simulation);
  };
  const Vector exact = draws(1e-9, 0.0).col(0);
  const double size = exact.norm();
  EXPECT_GT(size, 0.1);
  for (const auto& [deviation, dropout] : {std::pair{0.01, 0.0}, std::pair{1e-9, 0.01}}) {
    const Matrix noisy = draws(deviation, dropout);
    const double distance = (noisy.colwise() - exact).colwise().norm().maxCoeff();
    EXPECT_GT(distance, 1e-4 * size);
    EXPECT_LT(distance, size);
  }
}

TEST(Untrained, ImagesThatDoNotFitAreRefused) {
  UntrainedOptions options;
  for (const char* text : {"32x32", "3x32x32x1", "0x32x32", "3x32xa", "3,32,32"}) {
    options.image = text;
    EXPECT_THROW((void)untrained_layers(options), InvalidArgument) << text;
  }
  options.image = "3x32x16";
  EXPECT_THROW((void)untrained_layers(options), InvalidArgument);
  options.network = UntrainedNetwork::Vgg2;
  options.image = "3x30x30";
  EXPECT_THROW((void)untrained_layers(options), InvalidArgument);
}

}  // namespace untrained_test
}  // namespace mixcert::lab
