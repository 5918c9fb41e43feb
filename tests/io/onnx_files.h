// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// ONNX files for tests, made by protobuf.
#pragma once

#include <string>
#include <vector>

#include "io/onnx/protobuf/onnx_messages.h"

namespace mixcert::test {

inline onnx::NodeProto& add_node(onnx::GraphProto& graph, const std::string& type,
                                 const std::vector<std::string>& inputs, const std::string& output) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

inline void add_numbers(onnx::GraphProto& graph, const std::string& name,
                        const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t size : shape) tensor.add_dims(size);
  for (const float value : values) tensor.add_float_data(value);
}

/// An input "x" of any batch and these sizes, and the output "y" of opset 13.
inline onnx::ModelProto empty_model(const std::vector<std::int64_t>& sizes) {
  onnx::ModelProto model;
  model.set_ir_version(7);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name("x");
  onnx::TypeProto::Tensor& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("batch");
  for (const std::int64_t size : sizes) type.mutable_shape()->add_dim()->set_dim_value(size);
  graph.add_output()->set_name("y");
  return model;
}

/// y = x w with w = [[1, 2], [3, 4]].
inline onnx::ModelProto small_model() {
  onnx::ModelProto model = empty_model({2});
  add_numbers(*model.mutable_graph(), "w", {2, 2}, {1, 2, 3, 4});
  add_node(*model.mutable_graph(), "Gemm", {"x", "w"}, "y");
  return model;
}

}  // namespace mixcert::test
