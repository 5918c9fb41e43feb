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
#include "train/train.h"

namespace mixcert::lab {
namespace {

TEST(ModelOutput, CoreComputesTheSameOutputs) {
  const DenseNet net({3, 5, 2}, Activation(ActivationFunction::Tanh), {0.0, 0.0});
  const DenseLaw law{normal_rows(1, net.parameter_count(), 1).col(0), {}};
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
  const ConvNet conv({1, 8, 8}, 0.0);
  const FloatVector parameters = normal_rows(3, conv.parameter_count(), 1).col(0);
  write_backbone(directory / "b.safetensors", conv, parameters.data(), {});
  EXPECT_EQ(read_backbone(directory / "b.safetensors", conv), parameters);
  EXPECT_THROW(read_backbone(directory / "b.safetensors", ConvNet({3, 8, 8}, 0.0)), FileError);
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

}  // namespace
}  // namespace mixcert::lab
