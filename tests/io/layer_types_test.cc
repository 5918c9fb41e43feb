// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers of every type in model files: what is saved loads the same, and bad geometry, keys, sizes and laws
// are refused in one line that names file and entry.
#include <limits>

#include "io/formats/safetensors.h"
#include "io/test_files.h"
#include "mixcert/io/model_file.h"
#include "mixcert/network/layer_spec.h"
#include "support/naive_specs.h"
#include "support/random_specs.h"

namespace mixcert {
namespace layer_types_test {

using test::message_of;

class LayerTypes : public ::testing::Test {
 protected:
  using Tensors = std::map<std::string, Array>;

  void write(const std::string& architecture, const Tensors& tensors) {
    write_safetensors(path_, tensors, {{"format", "mixcert-network"}, {"architecture", architecture}});
  }
  std::string refusal(const std::string& architecture, const Tensors& tensors = {}) {
    write(architecture, tensors);
    return message_of<FileError>([&] { load_layers(path_); });
  }
  /// One layer behind an image of 2 x 4 x 4.
  static std::string behind_image(const std::string& layer) {
    return R"([{"type":"conv2d","name":"c","in":1,"out":2,"height":4,"width":4,"kernel":1},)" + layer + "]";
  }

  test::TempDirectory directory_;
  std::filesystem::path path_ = directory_ / "m.safetensors";
};

DenseSpec dense(Index in, Index out, const std::string& name, const EntryLaw& law = {}) {
  return {{name, Matrix::Constant(out, in, 0.5), Vector::Ones(out),
           MeanFieldWeights{Matrix::Constant(out, in, 0.1), law},
           IndependentBias{Vector::Constant(out, 0.2), law}}};
}

/// One of everything.
std::vector<LayerSpec> all_types() {
  Generator generator = make_generator(9, Stream::Example);
  const LayerShape image{2, {4, 5}, true};
  Conv2dSpec odd = testing::same_convolution(generator, image, true, "odd");
  odd.window = {{2, 3}, {1, 2}, {1, 1}, {2, 1}};
  odd.out = 4;
  odd.groups = 2;
  testing::fill_convolution(generator, odd, true);
  const LayerShape after = *shape_after_convolution(odd, image);
  Conv2dSpec same = testing::same_convolution(generator, after, false, "same");
  same.bias_mean.resize(0);
  const LayerShape pooled = *shape_after_pool("max_pool2d", {{2, 2}, {1, 2}, {1, 0}, {1, 1}}, after);
  const Index size = pooled.size();
  return {
      odd,
      testing::random_batch_norm(generator, 4),
      testing::activation_spec(ActivationFunction::LeakyRelu),
      ResidualSpec{{same, testing::activation_spec(ActivationFunction::Tanh)}},
      AvgPool2dSpec{{{3, 3}, {1, 1}, {1, 1}, {1, 1}}},
      MaxPool2dSpec{{{2, 2}, {1, 2}, {1, 0}, {1, 1}}},
      FlattenSpec{},
      DropoutSpec{0.25},
      dense(size, 3, "d", EntryLaw(EntryLaw::Family::StudentT, 5.5)),
      GaussianNoiseSpec{0.125},
      GaussianDropoutSpec{0.5},
      MixtureSpec{{0.25, 0.75}, {dense(3, 2, "m0"), dense(3, 2, "m1", EntryLaw(EntryLaw::Family::Laplace))}},
      testing::activation_spec(ActivationFunction::Sigmoid)};
}

TEST_F(LayerTypes, SavedLayersLoadTheSame) {
  const std::vector<LayerSpec> layers = all_types();
  save_layers(path_, layers, {{"note", "kept"}});
  const std::vector<LayerSpec> again = load_layers(path_);
  ASSERT_EQ(again.size(), layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) EXPECT_EQ(title(again[i]), title(layers[i]));
  const auto& law = std::get<DenseSpec>(again[8].variant()).layer;
  EXPECT_EQ(std::get<MeanFieldWeights>(law.weights()).law.degrees(), 5.5);
  EXPECT_EQ(std::get<IndependentBias>(law.bias()).law.family(), EntryLaw::Family::StudentT);
  // Saved once more, the file is the same to the byte.
  save_layers(directory_ / "again.safetensors", again, {{"note", "kept"}});
  EXPECT_EQ(test::read_text(directory_ / "again.safetensors"), test::read_text(path_));
}

TEST_F(LayerTypes, SkipsAndChannelMasksLoadTheSame) {
  Generator generator = make_generator(10, Stream::Example);
  const LayerShape image{2, {4, 4}, true};
  const std::vector<LayerSpec> layers = {
      testing::same_convolution(generator, image, true, "first"), Dropout2dSpec{0.125},
      ResidualSpec{{testing::same_convolution(generator, image, true, "branch"),
                    testing::activation_spec(ActivationFunction::Relu), Dropout2dSpec{0.5}},
                   {testing::same_convolution(generator, image, false, "skip")}},
      FlattenSpec{}, dense(32, 2, "head")};
  save_layers(path_, layers);
  const std::vector<LayerSpec> again = load_layers(path_);
  ASSERT_EQ(again.size(), layers.size());
  EXPECT_EQ(std::get<Dropout2dSpec>(again[1].variant()).rate, 0.125);
  const auto& block = std::get<ResidualSpec>(again[2].variant());
  EXPECT_EQ(block.layers.size(), 3U);
  EXPECT_EQ(std::get<Dropout2dSpec>(block.layers[2].variant()).rate, 0.5);
  ASSERT_EQ(block.skip.layers.size(), 1U);
  EXPECT_EQ(title(block.skip.layers[0]), "conv2d 'skip'");
  save_layers(directory_ / "again.safetensors", again);
  EXPECT_EQ(test::read_text(directory_ / "again.safetensors"), test::read_text(path_));
}

TEST_F(LayerTypes, EnsemblesAndNoiseLoad) {
  save_layers(path_, all_types());
  const Ensemble ensemble = load_ensemble(path_);
  EXPECT_EQ(ensemble.size(), 2);
  EXPECT_EQ(ensemble.inputs(), 40);
  EXPECT_CONTAINS(message_of<FileError>([&] { load_network(path_); }), "an ensemble of 2 networks");
  InputNoise noise;
  noise.components.push_back({1.0, {}, IndependentBias{Vector::Ones(40)}});
  EXPECT_EQ(load_ensemble(path_, {}, noise).member(0).layer(0).name(), "input noise");
  noise.components[0].law = IndependentBias{Vector::Ones(7)};
  EXPECT_THROW(load_ensemble(path_, {}, noise), FileError);
  const ReadLimits small{20000};
  EXPECT_CONTAINS(message_of<ResourceError>([&] { load_ensemble(path_, small); }), path_.string() + ": ");
}

TEST_F(LayerTypes, SavedMasksLoadTheSame) {
  const Network network({dense(2, 3, "a").layer, dense(3, 2, "b").layer},
                        {Activation(), Activation(ActivationFunction::Relu)}, {Mask(), Mask::gaussian(0.5)});
  save_network(path_, network);
  const Network again = load_network(path_);
  EXPECT_EQ(again.layer_count(), 2);
  EXPECT_EQ(again.mask(1).kind(), Mask::Kind::Gaussian);
  EXPECT_EQ(again.mask(1).rate(), 0.5);
}

TEST_F(LayerTypes, WhatCouldNotBeReadIsNotSaved) {
  EXPECT_THROW(save_layers(path_, {dense(2, 2, "a"), dense(2, 2, "a")}), InvalidArgument);
  EXPECT_THROW(save_layers(path_, {dense(2, 2, "a"), dense(2, 2, "a.weight")}), InvalidArgument);
  DenseLayer mixed = dense(2, 2, "a").layer;
  mixed = {"a", mixed.weight_mean(), mixed.bias_mean(), mixed.weights(),
           IndependentBias{Vector::Ones(2), EntryLaw(EntryLaw::Family::Uniform)}};
  EXPECT_THROW(save_layers(path_, {DenseSpec{mixed}}), InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(LayerTypes, PlainNamesOfDeterministicConvolutions) {
  const std::string architecture =
      R"([{"type":"conv2d","name":"c","in":1,"out":1,"height":2,"width":2,"kernel":[1,2],"stride":1,"padding":0},)"
      R"({"type":"flatten"},{"type":"gaussian_noise","std":1}])";
  write(architecture, {{"c.weight", {{1, 1, 1, 2}, {1, -1}}}, {"c.bias", {{1}, {10}}}});
  const Network network = load_network(path_);
  EXPECT_EQ(network.features((Vector(4) << 1, 2, 5, 9).finished()).values, (Vector(2) << 9, 6).finished());
  EXPECT_CONTAINS(refusal(architecture, {{"c.weight", {{1, 1, 1, 2}, {1, -1}}},
                                         {"c.weight.mean", {{1, 1, 1, 2}, {1, -1}}}}),
                  "layer 'c': expected one of weight and weight.mean, got both");
  EXPECT_CONTAINS(refusal(architecture, {{"c.weight", {{1, 1, 1, 2}, {1, -1}}},
                                         {"c.weight.variance", {{1, 1, 1, 2}, {1, 1}}}}),
                  "weight.mean beside weight.variance");
  EXPECT_CONTAINS(refusal(architecture, {{"c.weight", {{1, 1, 2, 1}, {1, -1}}}}),
                  "tensor 'c.weight': expected shape [1, 1, 1, 2], got [1, 1, 2, 1]");
  EXPECT_CONTAINS(refusal(architecture, {{"c.weight.mean", {{1, 1, 1, 2}, {1, -1}}},
                                         {"c.weight.variance", {{1, 1, 1, 2}, {1, -1}}}}),
                  "conv2d 'c': weight.variance: expected variances");
}

struct Case {
  std::string layer;
  std::string message;
};

class BadLayer : public LayerTypes, public ::testing::WithParamInterface<Case> {};

TEST_P(BadLayer, IsRefusedInOneLine) {
  const std::string message = refusal(behind_image(GetParam().layer));
  EXPECT_TRUE(message.starts_with(path_.string() + ": architecture[1]")) << message;
  EXPECT_CONTAINS(message, GetParam().message);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

std::string conv(const std::string& more, int in = 2, int height = 4) {
  return R"({"type":"conv2d","name":"d","in":)" + std::to_string(in) + R"(,"out":2,"height":)" +
         std::to_string(height) + R"(,"width":4,)" + more + "}";
}

INSTANTIATE_TEST_SUITE_P(
    All, BadLayer,
    ::testing::Values(
        Case{conv(R"("kernel":5)"),
             "conv2d 'd': kernel: expected one that fits into the padded input of 4 x 4, got 5 x 5"},
        Case{conv(R"("kernel":[3,2147483647],"dilation":[1,2147483647])"), "got 3 x 4611686"},
        Case{conv(R"("kernel":3)", 3), "conv2d 'd': in: expected 2 (channels of the layer before), got 3"},
        Case{conv(R"("kernel":3)", 2, 5),
             "height and width: expected 4 x 4 (of the layer before), got 5 x 4"},
        Case{conv(R"("kernel":3,"groups":3)"), "groups: expected a divisor of 2 and 2 channels, got 3"},
        Case{conv(R"("kernel":3,"stride":0)"), "stride: expected an integer in 1.."},
        Case{conv(R"("kernel":3,"padding":-1)"), "padding: expected an integer in 0.."},
        Case{conv(R"("kernel":[3])"), "kernel: expected an integer or [height, width]"},
        Case{conv(R"("kernel":3,"bias":true)"), "only the keys type, name, in, out, height, width, kernel"},
        Case{conv(R"("kernel":1,"padding":2147483647)"), "at most 2^31 - 1 values"},
        Case{R"({"type":"conv2d","name":"d","in":2,"out":2,"kernel":1})",
             "height: expected an integer, got none"},
        Case{R"({"type":"conv2d","name":"c","in":2,"out":2,"height":4,"width":4,"kernel":1})",
             "each name once"},
        Case{R"({"type":"max_pool2d","kernel":5})", "max_pool2d: kernel: expected one that fits"},
        Case{R"({"type":"max_pool2d","kernel":2,"padding":2})",
             "padding: expected at most half of the kernel"},
        Case{R"({"type":"max_pool2d","kernel":2,"dilation":2})", "only the keys"},
        Case{R"({"type":"avg_pool2d"})", "kernel: expected an integer"},
        Case{R"({"type":"dense","name":"d","in":32,"out":2})", "a flatten between"},
        Case{R"({"type":"flatten","dim":1})", "only the keys type"},
        Case{R"({"type":"batch_norm","name":"n","features":3,"epsilon":1e-5})", "features: expected 2"},
        Case{R"({"type":"batch_norm","name":"n","features":2})",
             "epsilon: expected a finite number, got none"},
        Case{R"({"type":"batch_norm","name":"n","features":2,"epsilon":-1})",
             "epsilon: expected a number, at least 0"},
        Case{R"({"type":"dropout","rate":1})", "rate: expected a number in [0, 1), got 1"},
        Case{R"({"type":"dropout","rate":-0.1})", "rate: expected a number in [0, 1), got -0.1"},
        Case{R"({"type":"dropout","rate":"half"})", "rate: expected a finite number"},
        Case{R"({"type":"dropout","p":0.5})", "only the keys type, rate"},
        Case{R"({"type":"gaussian_dropout","rate":1.5})", "rate"},
        Case{R"({"type":"gaussian_noise","std":-1})", "std: expected a number, at least 0"},
        Case{R"({"type":"residual","layers":[]})", "layers: expected a list that is not empty"},
        Case{R"({"type":"residual","layers":[{"type":"max_pool2d","kernel":2}]})",
             "residual: expected layers that keep the shape 2 x 4 x 4, got 2 x 2 x 2"},
        Case{R"({"type":"residual","layers":[{"type":"flatten","x":1}]})", "architecture[1].layers[0]"},
        Case{R"({"type":"mixture","weights":[1],"layers":[{"type":"flatten"}]})",
             "type: expected dense, got 'flatten'"},
        Case{R"({"type":"mixture","weights":["1"],"layers":[{"type":"flatten"}]})",
             "weights: expected numbers"},
        Case{R"({"type":"mixture","layers":[{"type":"flatten"}]})", "weights: expected a list"}));

TEST_F(LayerTypes, NestingIsCapped) {
  std::string layer = R"({"type":"activation","function":"relu"})";
  for (int i = 0; i < 5; ++i) layer = R"({"type":"residual","layers":[)" + layer + "]}";
  EXPECT_CONTAINS(refusal("[" + layer + "]"), "nested at most 4 deep");
}

TEST_F(LayerTypes, SizesThatOverflowAreRefused) {
  const std::string huge = "2147483647";
  EXPECT_CONTAINS(refusal(R"([{"type":"conv2d","name":"c","in":)" + huge + R"(,"out":)" + huge +
                          R"(,"height":)" + huge + R"(,"width":)" + huge + R"(,"kernel":)" + huge + "}]"),
                  "at most 2^31 - 1 values in front of it");
  EXPECT_CONTAINS(
      refusal(R"([{"type":"conv2d","name":"c","in":1,"out":9,"height":46340,"width":46340,"kernel":1}])"),
      "at most 2^31 - 1 values behind it");
}

TEST_F(LayerTypes, LawsOfWeights) {
  const Tensors means = {{"d.weight.mean", {{1, 1}, {1}}}, {"d.bias.mean", {{1}, {1}}}};
  Tensors mean_field = means;
  mean_field["d.weight.variance"] = {{1, 1}, {1}};
  const auto with = [](const std::string& more) {
    return R"([{"type":"dense","name":"d","in":1,"out":1)" + more + "}]";
  };
  write(with(R"(,"law":"uniform")"), mean_field);
  const auto layers = load_layers(path_);
  const auto& law = std::get<MeanFieldWeights>(std::get<DenseSpec>(layers[0].variant()).layer.weights());
  EXPECT_EQ(law.law.family(), EntryLaw::Family::Uniform);
  EXPECT_CONTAINS(refusal(with(R"(,"law":"cauchy")"), mean_field),
                  "law: expected laplace, uniform or student_t, got 'cauchy'");
  EXPECT_CONTAINS(refusal(with(R"(,"law":"student_t")"), mean_field),
                  "degrees: expected a finite number, got none");
  EXPECT_CONTAINS(refusal(with(R"(,"law":"student_t","degrees":2)"), mean_field), "a number above 2");
  EXPECT_CONTAINS(refusal(with(R"(,"law":"uniform","degrees":3)"), mean_field), "student_t only");
  EXPECT_CONTAINS(refusal(with(R"(,"degrees":3)"), mean_field), "degrees: expected them beside a law");
  EXPECT_CONTAINS(refusal(with(R"(,"law":"uniform")"), means),
                  "weight.variance or bias.variance for the law uniform");
  Tensors full = means;
  full["d.weight.covariance"] = {{1, 1}, {1}};
  full["d.bias.variance"] = {{1}, {1}};
  EXPECT_CONTAINS(refusal(with(R"(,"law":"uniform")"), full),
                  "mean-field weights for the law uniform, got full");
}

}  // namespace layer_types_test
}  // namespace mixcert
