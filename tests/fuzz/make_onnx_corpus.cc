// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Small ONNX models that use every operator, the starting points of onnx_fuzzer:
//     make_onnx_corpus DIR
// writes them to DIR/onnx.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "io/onnx_files.h"

namespace {

using mixcert::test::add_node;
using mixcert::test::add_numbers;
using mixcert::test::empty_model;
namespace fs = std::filesystem;

void write_model(const fs::path& path, const onnx::ModelProto& model) {
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
}

void add_integers(onnx::NodeProto& node, const std::string& name, const std::vector<std::int64_t>& values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

void add_integer(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void add_shape(onnx::GraphProto& graph, const std::string& name, const std::vector<std::int64_t>& values) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t value : values) tensor.add_int64_data(value);
}

/// One model for each operator of one input.
void make_elementwise(const fs::path& directory) {
  for (const char* type :
       {"Relu", "LeakyRelu", "Tanh", "Sigmoid", "Erf", "Softplus", "Elu", "Celu", "Selu", "HardSigmoid",
        "HardSwish", "Mish", "Softsign", "Clip", "Identity", "Neg", "Dropout", "Flatten", "Softmax"}) {
    onnx::ModelProto model = empty_model({2});
    onnx::GraphProto& graph = *model.mutable_graph();
    add_numbers(graph, "w", {2, 2}, {1, 2, 3, 4});
    add_node(graph, "MatMul", {"x", "w"}, "h");
    add_node(graph, type, {"h"}, "y");
    write_model(directory / type, model);
  }
}

void make_dense(const fs::path& directory) {
  onnx::ModelProto model = empty_model({2});
  onnx::GraphProto& graph = *model.mutable_graph();
  add_numbers(graph, "w", {2, 2}, {1, 2, 3, 4});
  add_numbers(graph, "b", {2}, {1, 2});
  add_numbers(graph, "one", {}, {1});
  add_node(graph, "Transpose", {"w"}, "turned");
  add_node(graph, "MatMul", {"x", "turned"}, "p");
  add_node(graph, "Add", {"p", "b"}, "h");
  add_node(graph, "Sigmoid", {"h"}, "s");
  add_node(graph, "Mul", {"h", "s"}, "silu");
  add_node(graph, "Sub", {"one", "silu"}, "affine");
  add_node(graph, "Div", {"affine", "b"}, "scaled");
  add_integer(add_node(graph, "Concat", {"scaled", "h", "x"}, "y"), "axis", 1);
  write_model(directory / "dense", model);
}

void make_images(const fs::path& directory) {
  onnx::ModelProto model = empty_model({1, 4, 4});
  onnx::GraphProto& graph = *model.mutable_graph();
  add_numbers(graph, "k", {2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  add_numbers(graph, "b", {2}, {1, 2});
  add_shape(graph, "zero", {0});
  add_shape(graph, "rest", {-1});
  add_integers(add_node(graph, "Conv", {"x", "k", "b"}, "c"), "pads", {0, 0, 1, 1});
  add_node(graph, "BatchNormalization", {"c", "b", "b", "b", "b"}, "n");
  add_integers(add_node(graph, "MaxPool", {"n"}, "m"), "kernel_shape", {2, 2});
  onnx::NodeProto& average = add_node(graph, "AveragePool", {"m"}, "a");
  add_integers(average, "kernel_shape", {3, 3});
  add_integers(average, "pads", {1, 1, 1, 1});
  add_node(graph, "Shape", {"a"}, "shape");
  add_node(graph, "Gather", {"shape", "zero"}, "batch");
  add_integer(add_node(graph, "Concat", {"batch", "rest"}, "flat"), "axis", 0);
  add_node(graph, "Reshape", {"a", "flat"}, "y");
  graph.add_output()->set_name("mean");
  add_node(graph, "GlobalAveragePool", {"n"}, "mean");
  write_model(directory / "images", model);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) {
    std::cerr << "usage: make_onnx_corpus DIR\n";
    return 2;
  }
  const fs::path directory = fs::path(arguments[1]) / "onnx";
  fs::create_directories(directory);
  make_elementwise(directory);
  make_dense(directory);
  make_images(directory);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "make_onnx_corpus: " << error.what() << '\n';
  return 1;
}
