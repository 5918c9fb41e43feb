// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Files of trained networks: what the core reads back is what was trained.
#include "train/model_output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/formats/npy.h"
#include "io/formats/safetensors.h"
#include "io/test_files.h"
#include "lab/train/synthetic_data.h"
#include "mixcert/io/model_file.h"
#include "mixcert/statistics/simulate.h"
#include "train/train.h"

namespace mixcert::lab {
namespace model_output_test {

TEST(ModelOutput, CoreComputesTheSameOutputs) {
  const DenseNet net({3, 5, 2}, Activation(ActivationFunction::Tanh), {0.0, 0.0});
  const ParameterLaw law{normal_rows(1, net.parameter_count(), 1).col(0), {}};
  const test::TempDirectory directory;
  write_dense_network(directory / "net.safetensors", net, law, {});
  const Network network = load_network(directory / "net.safetensors");
  const FloatRows x = normal_rows(2, 1, 3);
  DenseNet::Pass pass;
  net.forward(law.mean.data(), x, nullptr, pass);
  Matrix value = x.transpose().cast<double>();
  // Deterministic layers in front are features; the last one is left.
  value = network.features(value).values;
  for (Index k = 0; k < network.layer_count(); ++k) {
    value =
        network.layer(k).weight_mean() * network.activation(k).apply(value) + network.layer(k).bias_mean();
  }
  EXPECT_LT((value - pass.outputs.back().transpose().cast<double>()).norm(), 1e-5 * value.norm());
}

std::vector<std::string> layer_types(const std::filesystem::path& path) {
  std::vector<std::string> types;
  const SafetensorsReader reader(path);
  for (const auto& entry : nlohmann::json::parse(reader.metadata().at("architecture"))) {
    types.push_back(entry.at("type"));
  }
  return types;
}

TEST(ModelOutput, StackHasHeadFeaturesBackboneAndWhole) {
  const test::TempDirectory directory;
  const Dataset data = image_data(8, 30, 3);
  TrainOptions options;
  options.backbone = Backbone::Vgg2;
  options.backbone_epochs = 3;
  options.backbone_dropout = 0.25;
  options.epochs = 20;
  options.threads = 1;
  const TrainSummary summary = train(data, options, directory / "net.safetensors");
  EXPECT_EQ(directory.count(), 4);
  const Network head = load_network(directory / "net.safetensors");
  EXPECT_EQ(head.inputs(), 256);
  EXPECT_FALSE(head.layer(0).is_deterministic());
  EXPECT_EQ(read_npy(directory / "net.features.npy").shape, (std::vector<Index>{30, 256}));
  const std::vector<std::string> block = {"conv2d",     "activation", "conv2d",
                                          "activation", "max_pool2d", "dropout"};
  std::vector<std::string> expected = block;
  expected.insert(expected.end(), block.begin(), block.end());
  expected.emplace_back("flatten");
  EXPECT_EQ(layer_types(directory / "net.backbone.safetensors"), expected);
  expected.insert(expected.end(), {"dense", "activation", "dense"});
  EXPECT_EQ(layer_types(directory / "net.full.safetensors"), expected);
  EXPECT_GT(summary.test_samples->score, 0.9);
}

TEST(ModelOutput, BackboneCanBeUsedAgain) {
  const test::TempDirectory directory;
  const ConvNet conv = make_backbone(Backbone::Vgg2, BackbonePooling::Usual, {1, 8, 8}, {});
  const FloatVector parameters = normal_rows(3, conv.parameter_count(), 1).col(0);
  write_backbone(directory / "b.safetensors", conv, parameters.data(), {});
  EXPECT_EQ(read_backbone(directory / "b.safetensors", conv), parameters);
  const ConvNet other = make_backbone(Backbone::Vgg2, BackbonePooling::Usual, {3, 8, 8}, {});
  EXPECT_THROW(read_backbone(directory / "b.safetensors", other), FileError);
}

TEST(ModelOutput, BayesianLenetIsOneFileThatCanBeDrawnFrom) {
  const test::TempDirectory directory;
  const Dataset data = image_data(16, 60, 3);
  TrainOptions options;
  options.backbone = Backbone::Lenet5;
  options.backbone_kernels = BackboneKernels::Random;
  options.batch_size = 20;
  options.epochs = 30;
  options.learning_rate = 0.02;
  // Sixty images say little about so many weights: at temper 1 the posterior stays near the prior.
  options.temper = 1e-3;
  options.prior_precision = 20.0;
  options.initial_std = 0.01;
  options.threads = 1;
  const TrainSummary summary = train(data, options, directory / "net.safetensors");
  EXPECT_EQ(directory.count(), 1);
  EXPECT_GT(summary.history.back().log_likelihood, summary.history.front().log_likelihood + 0.3);
  EXPECT_EQ(
      layer_types(directory / "net.safetensors"),
      (std::vector<std::string>{"conv2d", "activation", "avg_pool2d", "conv2d", "activation", "avg_pool2d",
                                "flatten", "dense", "activation", "dense", "activation", "dense"}));
  for (const LayerSpec& layer : load_layers(directory / "net.safetensors")) {
    const auto* spec = std::get_if<Conv2dSpec>(&layer.variant());
    if (spec == nullptr) continue;
    EXPECT_GT(spec->kernel_variance.minCoeff(), 0.0);
    EXPECT_GT(spec->bias_variance.minCoeff(), 0.0);
  }
  // Mean draws of the file classify as the training says.
  const Network network = load_network(directory / "net.safetensors");
  SimulationOptions simulation;
  simulation.samples = 100;
  Index right = 0;
  for (Index n = 0; n < 20; ++n) {
    Index best = 0;
    simulate(network, data.test.inputs.row(n).transpose().cast<double>(), n, simulation)
        .rowwise()
        .mean()
        .maxCoeff(&best);
    right += best == data.test.labels[static_cast<std::size_t>(n)] ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(right) / 20.0, summary.test_samples->score, 0.2);
}

/// With the smallest deviations every draw is the mean network, which the lab computes too.
TEST(ModelOutput, ConvolutionsOfTheFileAreThoseThatWereTrained) {
  const test::TempDirectory directory;
  for (const Backbone backbone : {Backbone::Lenet5, Backbone::Vgg2}) {
    const ConvNet conv = make_backbone(backbone, BackbonePooling::Usual, {1, 16, 16}, {});
    const StackNet net{conv, DenseNet({conv.features(), 3}, Activation(ActivationFunction::Relu), {0.0})};
    const FloatVector weights = net.initial_weights(4);
    const FloatVector tiny = FloatVector::Constant(weights.size(), 1e-12F);
    const Index before = net.dense_offset();
    const Index behind = net.dense.parameter_count();
    write_full_network(directory / "net.safetensors", net, {weights.head(before), tiny.head(before)},
                       {weights.tail(behind), tiny.tail(behind)}, {});
    const Network network = load_network(directory / "net.safetensors");
    const FloatRows image = normal_rows(6, 1, 256);
    SimulationOptions simulation;
    simulation.samples = 2;
    const Matrix drawn = simulate(network, image.row(0).transpose().cast<double>(), 0, simulation);
    const FloatRows outputs = predict(net, weights, image, 1);
    const Vector expected = outputs.row(0).transpose().cast<double>();
    EXPECT_LT((drawn.col(1) - expected).norm(), 1e-3 * expected.norm());
  }
}

TEST(ModelOutput, StackWithMasksHasThemInTheWholeFile) {
  const test::TempDirectory directory;
  const Dataset data = image_data(8, 30, 3);
  TrainOptions options;
  options.inference = Inference::Dropout;
  options.backbone = Backbone::Vgg2;
  options.backbone_dropout = 0.2;
  options.backbone_dropout_unit = DropoutUnit::Channel;
  options.dropout_rate = "0.3";
  options.epochs = 6;
  options.learning_rate = 1e-3;
  options.threads = 1;
  const TrainSummary summary = train(data, options, directory / "net.safetensors");
  EXPECT_GT(summary.history.back().log_likelihood, summary.history.front().log_likelihood);
  const std::vector<std::string> block = {"conv2d",     "activation", "conv2d",
                                          "activation", "max_pool2d", "dropout2d"};
  std::vector<std::string> expected = block;
  expected.insert(expected.end(), block.begin(), block.end());
  expected.insert(expected.end(), {"flatten", "dense", "activation", "dropout", "dense"});
  EXPECT_EQ(layer_types(directory / "net.full.safetensors"), expected);
  EXPECT_NO_THROW((void)load_layers(directory / "net.full.safetensors"));
}

TEST(ModelOutput, DropoutIsInTheFileThatCertifyReads) {
  const test::TempDirectory directory;
  TrainOptions options;
  options.inference = Inference::Dropout;
  options.arch = "4-8-1";
  options.dropout_rate = "0.1,0.3";
  options.epochs = 2;
  train(linear_data(4, 60, 0.3), options, directory / "net.safetensors");
  EXPECT_EQ(layer_types(directory / "net.safetensors"),
            (std::vector<std::string>{"dropout", "dense", "activation", "dropout", "dense"}));
  const Network network = load_network(directory / "net.safetensors");
  EXPECT_EQ(network.mask(1).rate(), 0.1);
  EXPECT_TRUE(network.has_masks());
  EXPECT_EQ(directory.count(), 1);
}

TEST(ModelOutput, PriorThatDoesNotFitIsRefused) {
  const test::TempDirectory directory;
  const DenseLayer layer("0", Matrix::Zero(1, 4), Vector::Zero(1), DeterministicWeights{},
                         DeterministicBias{});
  save_network(directory / "prior.safetensors", Network({layer}, {Activation()}));
  TrainOptions options;
  options.arch = "4-1";
  options.prior = (directory / "prior.safetensors").string();
  EXPECT_THROW(train(linear_data(4, 60, 0.3), options, directory / "net.safetensors"), FileError);
}

}  // namespace model_output_test
}  // namespace mixcert::lab
