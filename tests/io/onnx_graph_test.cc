// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Graphs of ONNX models: arithmetic of shapes, the order of nodes, and wrong models with their messages.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "io/onnx/onnx_import.h"
#include "io/test_files.h"
#include "mixcert/core/error.h"
#include "support/naive_onnx.h"

namespace mixcert::test {
namespace onnx_graph_test {

using Integers = std::vector<std::int64_t>;

std::vector<LayerSpec> layers_of(const io::OnnxModel& model, const NamedArrays& deviations = {}) {
  return io::onnx_layers(model, deviations, {}).layers;
}

/// conv, then whatever `move` makes a row of 18 values of it, then dense.
std::vector<std::string> moved_types(const std::function<std::string(OnnxBuilder&, const std::string&)>& move,
                                     Index opset = 13) {
  OnnxBuilder builder({std::nullopt, 1, 5, 5}, opset);
  const std::string c = builder.node("Conv", {"x", builder.numbers("c", {2, 1, 3, 3})});
  const std::string y = builder.node("Gemm", {move(builder, c), builder.numbers("d", {18, 2})});
  std::vector<std::string> types;
  for (const LayerSpec& layer : layers_of(builder.model({y}))) types.emplace_back(type_name(layer));
  return types;
}

TEST(OnnxGraph, ShapesAreFolded) {
  const std::vector<std::string> expected = {"conv2d", "flatten", "dense"};
  EXPECT_EQ(moved_types([](OnnxBuilder& b, const std::string& c) { return b.node("Flatten", {c}); }),
            expected);
  EXPECT_EQ(moved_types([](OnnxBuilder& b, const std::string& c) {
              return b.node("Reshape", {c, b.integers("s", {0, -1})});
            }),
            expected);
  // view(x.size(0), -1)
  EXPECT_EQ(
      moved_types([](OnnxBuilder& b, const std::string& c) {
        const std::string zero = b.node("Constant", {}, {{"value_int", std::int64_t{0}}});
        const std::string size = b.node("Gather", {b.node("Shape", {c}), zero}, {{"axis", std::int64_t{0}}});
        const std::string row = b.node("Unsqueeze", {size, b.integers("axes", {0})});
        const std::string rest = b.node("Constant", {}, {{"value_ints", Integers{-1}}});
        const std::string shape = b.node("Concat", {row, rest}, {{"axis", std::int64_t{0}}});
        return b.node("Reshape", {c, b.node("Cast", {shape}, {{"to", std::int64_t{7}}})});
      }),
      expected);
  // flatten(1) as older exporters write it: sizes cut and multiplied.
  EXPECT_EQ(moved_types([](OnnxBuilder& b, const std::string& c) {
              const std::string shape = b.node("Shape", {c});
              const std::int64_t end = std::numeric_limits<std::int64_t>::max();
              const std::string first =
                  b.node("Slice", {shape, b.integers("0", {0}), b.integers("1", {1}), b.integers("a", {0})});
              const std::string rest = b.node("Slice", {shape, b.integers("2", {1}), b.integers("3", {end})});
              const std::string channels = b.node("Gather", {rest, b.integers("first", {0})});
              const std::string pixels = b.node("Mul", {b.node("Gather", {rest, b.integers("second", {1})}),
                                                        b.node("Gather", {rest, b.integers("last", {-1})})});
              const std::string size = b.node("Mul", {channels, pixels});
              return b.node("Reshape", {c, b.node("Concat", {first, size}, {{"axis", std::int64_t{0}}})});
            }),
            expected);
  EXPECT_EQ(moved_types(
                [](OnnxBuilder& b, const std::string& c) {
                  const std::string wide = b.node("Reshape", {c, b.integers("s", {1, 18, 1})});
                  return b.node("Squeeze", {b.node("Unsqueeze", {wide}, {{"axes", Integers{1}}})},
                                {{"axes", Integers{1, -1}}});
                },
                11),
            expected);
}

TEST(OnnxGraph, NodesMayComeInAnyOrder) {
  OnnxBuilder builder({std::nullopt, 2});
  const std::string h = builder.node("Gemm", {"x", builder.numbers("a", {2, 3})});
  const std::string y = builder.node("Gemm", {builder.node("Relu", {h}), builder.numbers("b", {3, 2})});
  io::OnnxModel model = builder.model({y});
  std::swap(model.nodes.front(), model.nodes.back());
  const std::vector<LayerSpec> layers = layers_of(model);
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(std::get<DenseSpec>(layers[0].variant()).layer.outputs(), 3);
}

/// The message for a model that `spoil` has changed.
std::string message(const std::function<void(io::OnnxModel&)>& spoil, const NamedArrays& deviations = {}) {
  OnnxBuilder builder({std::nullopt, 2});
  const std::string h = builder.node("Gemm", {"x", builder.numbers("a", {2, 3}), builder.numbers("ab", {3})});
  const std::string y = builder.node("Gemm", {builder.node("Relu", {h}), builder.numbers("b", {3, 2})});
  io::OnnxModel model = builder.model({y});
  spoil(model);
  std::string text = message_of<FileError>([&] { (void)layers_of(model, deviations); });
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.rfind("m.onnx: ", 0), 0U) << text;
  return text;
}

TEST(OnnxGraph, WrongGraphs) {
  EXPECT_CONTAINS(message([](io::OnnxModel& m) { m.nodes[0].inputs[0] = m.outputs[0]; }),
                  "node 'Gemm.0' (Gemm): expected a graph without cycles");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) { m.initialisers.erase("b"); }),
                  "node 'Gemm.2' (Gemm): expected tensors that the model has, got 'b', which nothing makes");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) { m.outputs = {"z"}; }), "output 'z'");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) { m.outputs.clear(); }), "expected an output, got none");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) { m.outputs = {"x"}; }),
                  "expected a layer between input and output");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) { m.outputs = {"a"}; }),
                  "output 'a': expected what depends on the input");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) { m.nodes[1].outputs = {"a"}; }),
                  "each tensor made once, got two of 'a'");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) {
                    m.nodes[1].outputs = {"", "Relu.1"};
                  }),
                  "expected an output, got none");
}

TEST(OnnxGraph, WrongInputs) {
  EXPECT_CONTAINS(message([](io::OnnxModel& m) {
                    m.inputs.push_back({"z", {1, 2}});
                  }),
                  "expected one input, got 2");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) {
                    m.inputs.clear();
                    m.nodes[0].inputs[0] = "a";
                  }),
                  "expected one input, got 0");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) { m.inputs[0].sizes = {2}; }),
                  "expected a batch and features");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) {
                    m.inputs[0].sizes = {1, std::nullopt};
                  }),
                  "input 'x': expected fixed sizes behind the batch, got an open size of axis 1");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) {
                    m.inputs[0].sizes = {1, Index{1} << 40U};
                  }),
                  "expected 1 to");
}

TEST(OnnxGraph, WrongNodes) {
  const auto of_type = [](const char* type, OnnxAttributes attributes = {}) {
    return message([&](io::OnnxModel& m) {
      m.nodes[1].type = type;
      m.nodes[1].attributes = attributes;
    });
  };
  EXPECT_CONTAINS(
      of_type("LSTM"),
      "node 'Relu.1' (LSTM): expected an operator that can be certified (docs/import.md), got LSTM: the same "
      "weights act at every time step; what can be certified is the network behind it");
  EXPECT_CONTAINS(of_type("LayerNormalization"), "batch norm with running statistics can be certified");
  EXPECT_CONTAINS(of_type("Exp"), "got Exp: it has no largest slope");
  EXPECT_CONTAINS(of_type("ReduceMean"),
                  "expected a mean over pixels of an image, got [3] behind the batch (where "
                  "it is LayerNorm: it divides by");
  // What an exporter puts before a recurrent layer is not what the line is about.
  EXPECT_CONTAINS(message([](io::OnnxModel& m) {
                    m.nodes[0].type = "Transpose";
                    m.nodes[2].type = "GRU";
                  }),
                  "node 'Gemm.2' (GRU)");
  EXPECT_CONTAINS(of_type("@nothing"), "(@nothing)");
  EXPECT_CONTAINS(of_type("Relu", {{"slope", 1.0}}), "'slope'");
  EXPECT_CONTAINS(of_type("LeakyRelu", {{"alpha", std::int64_t{1}}}), "attribute alpha as a number");
  EXPECT_CONTAINS(of_type("Conv"), "expected 2 to 3 inputs, got 1");
  EXPECT_CONTAINS(of_type("GlobalAveragePool"), "expected an image");
  EXPECT_CONTAINS(of_type("Softmax"), "expected it at the end");
  EXPECT_CONTAINS(of_type("Flatten", {{"axis", std::int64_t{2}}}), "the batch of 1 to stay the first axis");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) {
                    m.initialisers["b"].shape = {2, 3};
                  }),
                  "weights for 3 inputs, got [2, 3]");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) { m.initialisers["b"].shape = {6}; }), "node 'Gemm.2' (Gemm)");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) { m.initialisers["b"].values[1] = std::nan(""); }),
                  "finite values, got nan");
  EXPECT_CONTAINS(message([](io::OnnxModel& m) { m.nodes[2].inputs[1] = "Relu.1"; }), "expected a constant");
}

TEST(OnnxGraph, WrongDeviations) {
  const auto nothing = [](io::OnnxModel&) {};
  const std::vector<double> six(6, 0.5);
  EXPECT_CONTAINS(message(nothing, {{{"q", {{1}, {1.0}}}}}),
                  "deviations 'q': expected the name of an initialiser ('a', 'ab', 'b'), or it with "
                  ".variance, got another");
  EXPECT_CONTAINS(message(nothing, {{{"a", {{3, 2}, six}}}}), "expected numbers of shape [2, 3], got [3, 2]");
  EXPECT_CONTAINS(message(nothing, {{{"a", {{2, 3}, {1, 1, 1, 1, 1, -1}}}}}), "at least 0");
  EXPECT_CONTAINS(message(nothing, {{{"a", {{2, 3}, six}}, {"a.variance", {{2, 3}, six}}}}),
                  "deviations or variances, got both");
  EXPECT_CONTAINS(message(
                      [](io::OnnxModel& m) {
                        m.nodes[2].inputs[1] = "a";
                        m.nodes[2].attributes["transB"] = std::int64_t{1};
                      },
                      {{{"a", {{2, 3}, six}}}}),
                  "random weights that act once, got a second use of 'a'");
  EXPECT_CONTAINS(message(
                      [](io::OnnxModel& m) {
                        m.initialisers["slope"] = {{1}, false, {0.5}, {}};
                        m.nodes[1].type = "PRelu";
                        m.nodes[1].inputs.push_back("slope");
                      },
                      {{{"slope", {{1}, {0.5}}}}}),
                  "deviations of 'slope'");
  EXPECT_CONTAINS(message(
                      [](io::OnnxModel& m) {
                        m.initialisers["idle"] = {{1}, false, {0.5}, {}};
                      },
                      {{{"idle", {{1}, {0.5}}}}}),
                  "deviations 'idle': expected weights or biases that a layer has");
}

TEST(OnnxGraph, MemoryIsLimited) {
  OnnxBuilder builder({std::nullopt, 4});
  const std::string huge = builder.node("ConstantOfShape", {builder.integers("s", {1 << 20, 1 << 20})});
  const std::string y = builder.node("Gemm", {"x", huge});
  EXPECT_THROW((void)layers_of(builder.model({y})), ResourceError);
  OnnxBuilder small({std::nullopt, 4});
  const std::string z = small.node("Gemm", {"x", small.numbers("w", {4, 8})});
  EXPECT_THROW((void)io::onnx_layers(small.model({z}), {}, {100}), ResourceError);
}

}  // namespace onnx_graph_test
}  // namespace mixcert::test
