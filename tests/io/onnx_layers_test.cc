// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers of ONNX models: what the imported list computes, by the definitions of its layers, is what the model
// computes by the definitions of its operators.
#include <gtest/gtest.h>

#include "io/onnx/onnx_import.h"
#include "mixcert/core/error.h"
#include "support/naive_onnx.h"
#include "support/naive_specs.h"

namespace mixcert::test {
namespace onnx_layers_test {

using Integers = std::vector<std::int64_t>;
using Types = std::vector<std::string>;
using ::mixcert::testing::ExactVector;
using ::mixcert::testing::naive_layers;

ImportedModel imported(const io::OnnxModel& model, const NamedArrays& deviations = {}) {
  return io::onnx_layers(model, deviations, {});
}

Types types_of(const std::vector<LayerSpec>& layers) {
  Types types;
  for (const LayerSpec& layer : layers) types.emplace_back(type_name(layer));
  return types;
}

/// Compares every row of a batch; gives the types of the layers.
Types compare(const io::OnnxModel& model, const std::string& output) {
  NaiveTensor input{{}, {}};
  Index count = 1;
  for (const std::optional<Index>& size : model.inputs.front().sizes) {
    input.shape.push_back(size.value_or(1));
    count *= input.shape.back();
  }
  input.values = naive_numbers(count);
  const NaiveTensor expected = naive_onnx(model, output, input);
  const std::vector<LayerSpec> layers = imported(model).layers;
  const Index rows = input.shape.front();
  const Index values = static_cast<Index>(expected.values.size()) / rows;
  for (Index row = 0; row < rows; ++row) {
    const auto begin = input.values.begin() + row * (count / rows);
    const ExactVector result =
        naive_layers(layers, input_shape(layers), ExactVector(begin, begin + count / rows));
    EXPECT_EQ(static_cast<Index>(result.size()), values);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double wanted = expected.values[static_cast<std::size_t>(row * values) + i];
      EXPECT_NEAR(static_cast<double>(result[i]), wanted, 1e-12 * (1.0 + std::abs(wanted))) << i;
    }
  }
  return types_of(layers);
}

TEST(OnnxLayers, Gemm) {
  OnnxBuilder builder({3, 4});  // a batch of three
  const std::string h = builder.node(
      "Relu",
      {builder.node("Gemm", {"x", builder.numbers("a.weight", {5, 4}), builder.numbers("a.bias", {5})},
                    {{"transB", std::int64_t{1}}, {"alpha", 0.5}, {"beta", 3.0}})});
  const std::string y = builder.node("Gemm", {h, builder.numbers("b", {5, 2})});
  EXPECT_EQ(compare(builder.model({y}), y), (Types{"dense", "activation", "dense"}));
  const std::vector<LayerSpec> layers = imported(builder.model({y})).layers;
  EXPECT_EQ(title(layers[0]), "dense 'a'");
  EXPECT_TRUE(layers[2].inputs.empty());
}

TEST(OnnxLayers, MatMulTakesTheSumBehindItAsItsBias) {
  OnnxBuilder builder({std::nullopt, 4});
  const std::string product = builder.node("MatMul", {"x", builder.numbers("w", {4, 3})});
  const std::string y = builder.node("Add", {builder.numbers("b", {3}), product});
  EXPECT_EQ(compare(builder.model({y}), y), Types{"dense"});
  // The product is needed without the sum as well.
  const std::string both = builder.node("Concat", {y, product}, {{"axis", std::int64_t{1}}});
  EXPECT_EQ(compare(builder.model({both}), both), (Types{"dense", "affine", "concat"}));
}

TEST(OnnxLayers, Convolutions) {
  for (const Integers& pads :
       {Integers{0, 0, 0, 0}, Integers{1, 2, 1, 2}, Integers{0, 1, 1, 2}, Integers{2, 0, 0, 1}}) {
    OnnxBuilder builder({2, 4, 6, 7});
    const std::string c =
        builder.node("Conv", {"x", builder.numbers("c.weight", {6, 2, 3, 2}), builder.numbers("c.bias", {6})},
                     {{"pads", pads}, {"strides", Integers{2, 1}}, {"group", std::int64_t{2}}});
    const std::string y = builder.node("Flatten", {builder.node("Relu", {c})});
    EXPECT_EQ(compare(builder.model({y}), y), (Types{"conv2d", "activation", "flatten"}));
  }
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    OnnxBuilder builder({std::nullopt, 1, 5, 6});
    const std::string y = builder.node("Conv", {"x", builder.numbers("w", {2, 1, 2, 3})},
                                       {{"auto_pad", std::string(mode)}, {"strides", Integers{1, 2}}});
    EXPECT_EQ(compare(builder.model({y}), y), Types{"conv2d"});
  }
}

TEST(OnnxLayers, Signals) {
  OnnxBuilder builder({std::nullopt, 2, 9});
  const std::string c = builder.node("Conv", {"x", builder.numbers("w", {3, 2, 3})},
                                     {{"dilations", Integers{2}}, {"pads", Integers{2, 0}}});
  const std::string sum = builder.node("Add", {c, builder.numbers("b", {1, 3, 1})});
  const std::string p =
      builder.node("MaxPool", {sum}, {{"kernel_shape", Integers{2}}, {"strides", Integers{2}}});
  const std::string y = builder.node("Gemm", {builder.node("Flatten", {p}), builder.numbers("d", {9, 2})});
  EXPECT_EQ(compare(builder.model({y}), y), (Types{"conv2d", "max_pool2d", "flatten", "dense"}));
}

TEST(OnnxLayers, PReluOfSeveralSlopesIsASumOfBranches) {
  const Types sum = {"activation", "affine", "affine", "add"};
  OnnxBuilder features({3, 4});
  const std::string y = features.node("PRelu", {"x", features.constant("s", {4}, {0.25, -0.5, 0.0, 2.0})});
  EXPECT_EQ(compare(features.model({y}), y), sum);
  OnnxBuilder images({2, 3, 2, 4});
  const std::string z = images.node("PRelu", {"x", images.constant("s", {3, 1, 1}, {0.25, -0.5, 1.0})});
  EXPECT_EQ(compare(images.model({z}), z), (Types{"reshape", "activation", "affine", "affine", "add"}));
}

TEST(OnnxLayers, Pools) {
  for (const std::int64_t counts : {0, 1}) {
    OnnxBuilder builder({std::nullopt, 2, 7, 5});
    const OnnxAttributes window = {
        {"kernel_shape", Integers{3, 2}}, {"strides", Integers{2, 1}}, {"pads", Integers{1, 1, 1, 1}}};
    OnnxAttributes average = window;
    average["count_include_pad"] = counts;
    const std::string y = builder.node("AveragePool", {builder.node("MaxPool", {"x"}, window)}, average);
    const Types types = compare(builder.model({y}), y);
    EXPECT_EQ(types, counts == 1 ? (Types{"reshape", "max_pool2d", "avg_pool2d"})
                                 : (Types{"reshape", "max_pool2d", "avg_pool2d", "affine"}));
  }
}

TEST(OnnxLayers, ZerosAroundImages) {
  for (const Integers& pads : {Integers{0, 0, 1, 2, 0, 0, 1, 2}, Integers{0, 0, 0, 3, 0, 0, 2, 1}}) {
    OnnxBuilder builder({2, 2, 3, 4}, 10);
    const std::string p = builder.node("Pad", {"x"}, {{"pads", pads}});
    const std::string y = builder.node("AveragePool", {p}, {{"kernel_shape", Integers{2, 2}}});
    EXPECT_EQ(compare(builder.model({y}), y), (Types{"conv2d", "avg_pool2d"}));
  }
}

TEST(OnnxLayers, Means) {
  OnnxBuilder builder({std::nullopt, 2, 3, 4});
  const std::string a = builder.node("Flatten", {builder.node("GlobalAveragePool", {"x"})});
  const std::string b = builder.node("ReduceMean", {builder.node("Relu", {"x"})},
                                     {{"axes", Integers{-1, 2}}, {"keepdims", std::int64_t{0}}});
  const std::string y = builder.node("Add", {a, b});
  EXPECT_EQ(compare(builder.model({y}), y).back(), "add");
}

TEST(OnnxLayers, BatchNorm) {
  for (const bool image : {false, true}) {
    OnnxBuilder builder(image ? std::vector<std::optional<Index>>{2, 3, 2, 2}
                              : std::vector<std::optional<Index>>{2, 3});
    const std::string y = builder.node("BatchNormalization",
                                       {"x", builder.numbers("n.weight", {3}), builder.numbers("n.bias", {3}),
                                        builder.numbers("m", {3}), builder.numbers("v", {3}, 2.0)},
                                       {{"epsilon", 1e-3}});
    EXPECT_EQ(compare(builder.model({y}), y).back(), "batch_norm");
  }
}

TEST(OnnxLayers, SumsAndProductsWithConstants) {
  OnnxBuilder builder({2, 2, 3, 3});
  std::string y = builder.node("Sub", {"x", builder.numbers("mean", {1, 2, 1, 1})});
  y = builder.node("Div", {y, builder.numbers("deviation", {2, 1, 1}, 2.0)});
  y = builder.node("Mul", {builder.constant("two", {}, {2.0}), y});
  y = builder.node("Add", {y, builder.numbers("grid", {3, 3})});
  y = builder.node("Sub", {builder.constant("one", {1}, {1.0}), y});
  EXPECT_EQ(compare(builder.model({y}), y),
            (Types{"reshape", "affine", "affine", "affine", "affine", "affine"}));
  const std::vector<LayerSpec> layers = imported(builder.model({y})).layers;
  EXPECT_EQ(std::get<AffineSpec>(layers[1].variant()).shift.size(), 2);
  EXPECT_EQ(std::get<AffineSpec>(layers[3].variant()).scale.size(), 1);
  EXPECT_EQ(std::get<AffineSpec>(layers[4].variant()).shift.size(), 18);
}

TEST(OnnxLayers, GraphsWithSharedInputs) {
  OnnxBuilder builder({2, 3});
  const std::string h = builder.node("Gemm", {"x", builder.numbers("a", {3, 3})});
  const std::string r = builder.node("Relu", {h});
  const std::string s = builder.node("Sub", {r, "x"});
  const std::string t = builder.node("Add", {s, s});
  const std::string y =
      builder.node("Concat", {t, builder.node("Tanh", {h}), "x"}, {{"axis", std::int64_t{-1}}});
  const std::string unused = builder.node("Gemm", {r, builder.numbers("unused", {3, 9})});
  const Types types = compare(builder.model({y}), y);
  EXPECT_EQ(std::count(types.begin(), types.end(), "dense"), 1);
  EXPECT_EQ(types.back(), "concat");
}

TEST(OnnxLayers, ImagesAreJoinedByChannels) {
  OnnxBuilder builder({2, 2, 4, 4});
  const std::string c =
      builder.node("Conv", {"x", builder.numbers("c", {3, 2, 3, 3})}, {{"pads", Integers{1, 1, 1, 1}}});
  const std::string j = builder.node("Concat", {"x", builder.node("Relu", {c})}, {{"axis", std::int64_t{1}}});
  const std::string y = builder.node("Conv", {j, builder.numbers("d", {2, 5, 1, 1})});
  EXPECT_EQ(compare(builder.model({y}), y), (Types{"reshape", "conv2d", "activation", "concat", "conv2d"}));
}

TEST(OnnxLayers, SeveralOutputsAreOneVector) {
  OnnxBuilder builder({std::nullopt, 3});
  const std::string mean = builder.node("Gemm", {"x", builder.numbers("a", {3, 1})});
  const std::string spread = builder.node("Gemm", {"x", builder.numbers("b", {3, 2})});
  const ImportedModel heads = imported(builder.model({mean, spread}));
  EXPECT_EQ(heads.assumptions,
            std::vector<std::string>{"outputs 'Gemm.0', 'Gemm.1' are one vector, in this order"});
  const std::string y = builder.node("Concat", {mean, spread}, {{"axis", std::int64_t{1}}});
  compare(builder.model({y}), y);
  EXPECT_EQ(types_of(heads.layers), (Types{"dense", "dense", "concat"}));
}

TEST(OnnxLayers, DropoutActsInTrainingMode) {
  OnnxBuilder builder({std::nullopt, 3}, 12);
  const std::string h = builder.node("Gemm", {"x", builder.numbers("a", {3, 3})});
  const std::string ratio = builder.constant("ratio", {}, {0.25});
  const std::string still = builder.node("Dropout", {h, ratio});
  const ImportedModel evaluated = imported(builder.model({still}));
  EXPECT_EQ(types_of(evaluated.layers), Types{"dense"});
  EXPECT_EQ(evaluated.assumptions.size(), 1U);
  const std::string random = builder.node("Dropout", {h, ratio, builder.integers("training", {1})});
  const std::vector<LayerSpec> layers = imported(builder.model({random})).layers;
  ASSERT_EQ(types_of(layers), (Types{"dense", "dropout"}));
  EXPECT_EQ(std::get<DropoutSpec>(layers[1].variant()).rate, 0.25);
}

TEST(OnnxLayers, TheLastSoftmaxIsLeftOut) {
  OnnxBuilder builder({std::nullopt, 3});
  const std::string h = builder.node("Gemm", {"x", builder.numbers("a", {3, 3})});
  const std::string y = builder.node("LogSoftmax", {h}, {{"axis", std::int64_t{1}}});
  const ImportedModel model = imported(builder.model({y}));
  EXPECT_EQ(types_of(model.layers), Types{"dense"});
  EXPECT_EQ(model.assumptions,
            std::vector<std::string>{"the last LogSoftmax is left out: the outputs are its arguments"});
}

TEST(OnnxLayers, Deviations) {
  OnnxBuilder builder({std::nullopt, 1, 2, 2});
  const std::string c =
      builder.node("Conv", {"x", builder.numbers("c", {2, 1, 2, 1}), builder.numbers("cb", {2})},
                   {{"pads", Integers{0, 0, 1, 0}}});
  const std::string turned = builder.node("Transpose", {builder.numbers("w", {1, 8})});
  const std::string product = builder.node("MatMul", {builder.node("Flatten", {c}), turned});
  const std::string y = builder.node("Add", {product, builder.numbers("b", {1})});
  const NamedArrays deviations{{{"c.variance", {{2, 1, 2, 1}, {1, 4, 9, 16}}},
                                {"w", {{1, 8}, {1, 2, 3, 4, 5, 6, 7, 8}}},
                                {"b", {{1}, {0.5}}}}};
  const std::vector<LayerSpec> layers = imported(builder.model({y}), deviations).layers;
  ASSERT_EQ(types_of(layers), (Types{"conv2d", "flatten", "dense"}));
  const auto& convolution = std::get<Conv2dSpec>(layers[0].variant());
  // The uneven padding is a tap of zero in front of the kernel.
  EXPECT_EQ(convolution.window.kernel, (Size2d{3, 1}));
  EXPECT_EQ(convolution.kernel_variance, (Vector(6) << 0, 1, 4, 0, 9, 16).finished());
  EXPECT_EQ(convolution.bias_variance.size(), 0);
  const DenseLayer& dense = std::get<DenseSpec>(layers[2].variant()).layer;
  EXPECT_EQ(dense.weight_variances(), (Matrix(1, 8) << 1, 4, 9, 16, 25, 36, 49, 64).finished());
  EXPECT_EQ(dense.bias_variances()(0), 0.25);
}

}  // namespace onnx_layers_test
}  // namespace mixcert::test
