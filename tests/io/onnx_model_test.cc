// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The bytes of ONNX files, written by protobuf: all types of tensors, what is refused, and bytes that are no
// model. Where the library was built without libonnx, that it says so is what remains.
#include <gtest/gtest.h>

#include <functional>

#include "io/test_files.h"
#include "mixcert/core/error.h"
#include "mixcert/io/onnx_file.h"
#ifdef MIXCERT_HAS_ONNX
#include "io/onnx_files.h"
#endif

namespace mixcert::test {
namespace onnx_model_test {

#ifndef MIXCERT_HAS_ONNX

TEST(OnnxModel, SaysHowToGetTheReader) {
  EXPECT_FALSE(reads_onnx());
  EXPECT_CONTAINS(message_of<FileError>([] { (void)parse_onnx({}, "m.onnx"); }), "install libonnx-dev");
}

#else

DenseLayer first_dense(const onnx::ModelProto& model) {
  const std::string bytes = model.SerializeAsString();
  const ImportedModel imported = parse_onnx(as_bytes(bytes), "m.onnx");
  return std::get<DenseSpec>(imported.layers.at(0).variant()).layer;
}

std::string refusal(const onnx::ModelProto& model) {
  const std::string bytes = model.SerializeAsString();
  return message_of<FileError>([&] { (void)parse_onnx(as_bytes(bytes), "m.onnx"); });
}

TEST(OnnxModel, TensorsOfEveryType) {
  ASSERT_TRUE(reads_onnx());
  const Matrix expected = (Matrix(2, 2) << 1.0, 3.0, 2.0, 4.0).finished();
  onnx::ModelProto model = small_model();
  EXPECT_EQ(first_dense(model).weight_mean(), expected);
  onnx::TensorProto& weights = *model.mutable_graph()->mutable_initializer(0);
  weights.clear_float_data();
  weights.set_raw_data(raw_list<float>({1, 2, 3, 4}));
  EXPECT_EQ(first_dense(model).weight_mean(), expected);
  weights.set_data_type(onnx::TensorProto::DOUBLE);
  weights.set_raw_data(raw_list<double>({1, 2, 3, 4}));
  EXPECT_EQ(first_dense(model).weight_mean(), expected);
  weights.clear_raw_data();
  for (const double value : {1.0, 2.0, 3.0, 4.0}) weights.add_double_data(value);
  EXPECT_EQ(first_dense(model).weight_mean(), expected);
}

TEST(OnnxModel, IntegersAreShapes) {
  for (const bool raw_data : {false, true}) {
    onnx::ModelProto model = small_model();
    onnx::GraphProto& graph = *model.mutable_graph();
    onnx::TensorProto& shape = *graph.add_initializer();
    shape.set_name("shape");
    shape.add_dims(2);
    shape.set_data_type(onnx::TensorProto::INT64);
    if (raw_data) {
      shape.set_raw_data(raw_list<std::int64_t>({0, -1}));
    } else {
      shape.add_int64_data(0);
      shape.add_int64_data(-1);
    }
    add_node(graph, "Reshape", {"x", "shape"}, "r");
    graph.mutable_node(0)->set_input(0, "r");
    EXPECT_EQ(first_dense(model).inputs(), 2);
  }
}

TEST(OnnxModel, WhatIsRefused) {
  const auto spoiled = [](const std::function<void(onnx::ModelProto&, onnx::TensorProto&)>& spoil) {
    onnx::ModelProto model = small_model();
    spoil(model, *model.mutable_graph()->mutable_initializer(0));
    return refusal(model);
  };
  EXPECT_CONTAINS(spoiled([](auto&, auto& w) { w.set_data_location(onnx::TensorProto::EXTERNAL); }),
                  "initialiser 'w': expected numbers in the model itself, got external data");
  EXPECT_CONTAINS(spoiled([](auto&, auto& w) { w.add_external_data()->set_key("location"); }),
                  "external data");
  EXPECT_CONTAINS(spoiled([](auto&, auto& w) { w.set_data_type(onnx::TensorProto::FLOAT16); }), "type 10");
  EXPECT_CONTAINS(spoiled([](auto&, auto& w) { w.add_float_data(5); }), "expected 4 numbers, got 5");
  EXPECT_CONTAINS(spoiled([](auto&, auto& w) { w.set_raw_data("abc"); }),
                  "expected 4 numbers of 4 bytes, got 3 bytes");
  EXPECT_CONTAINS(spoiled([](auto&, auto& w) { w.set_dims(0, -2); }), "[-2, 2]");
  EXPECT_CONTAINS(spoiled([](auto&, auto& w) {
                    for (int k = 0; k < 9; ++k) w.add_dims(1);
                  }),
                  "at most 8 axes");
  EXPECT_CONTAINS(spoiled([](auto& m, auto& w) { *m.mutable_graph()->add_initializer() = w; }), "two of it");
  EXPECT_CONTAINS(spoiled([](auto& m, auto&) { m.mutable_opset_import(0)->set_version(8); }),
                  "expected a version in 9..22, got 8");
  EXPECT_CONTAINS(spoiled([](auto& m, auto&) { m.clear_opset_import(); }), "opset_import");
  EXPECT_CONTAINS(
      spoiled([](auto& m, auto&) { m.mutable_graph()->mutable_node(0)->set_domain("com.microsoft"); }),
      "node 'y' (Gemm): expected an operator of the standard domain, got one of 'com.microsoft'");
  EXPECT_CONTAINS(spoiled([](auto& m, auto&) { m.mutable_graph()->mutable_node(0)->set_op_type("@gelu"); }),
                  "the name of an operator");
  EXPECT_CONTAINS(spoiled([](auto& m, auto&) {
                    onnx::AttributeProto& a = *m.mutable_graph()->mutable_node(0)->add_attribute();
                    a.set_name("body");
                    a.set_type(onnx::AttributeProto::GRAPH);
                  }),
                  "attribute 'body': expected numbers, a text or a tensor");
  EXPECT_CONTAINS(spoiled([](auto& m, auto&) {
                    m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
                  }),
                  "input 'x': expected a tensor whose shape the file tells");
  EXPECT_CONTAINS(spoiled([](auto& m, auto&) { m.clear_graph(); }), "expected a graph, got none");
}

TEST(OnnxModel, SizesThatOverflowAreRefused) {
  onnx::ModelProto model = small_model();
  onnx::TensorProto& weights = *model.mutable_graph()->mutable_initializer(0);
  weights.set_dims(0, std::int64_t{1} << 62);
  EXPECT_CONTAINS(refusal(model), "fewer than 2^62");
  weights.set_dims(0, std::int64_t{1} << 40);
  const std::string bytes = model.SerializeAsString();
  EXPECT_THROW((void)parse_onnx(as_bytes(bytes), "m.onnx"), ResourceError);
}

TEST(OnnxModel, OtherBytesAreRefused) {
  EXPECT_CONTAINS(message_of<FileError>([] { (void)parse_onnx(as_bytes("PK\x03\x04 no model"), "m.onnx"); }),
                  "m.onnx: file: expected an ONNX model");
  const std::string whole = small_model().SerializeAsString();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(refuses([&] {
      (void)parse_onnx(as_bytes(std::string_view(whole).substr(0, size)), "m.onnx");
    })) << size;
}

TEST(OnnxModel, FilesOfVersionThreeListInitialisersAmongTheInputs) {
  onnx::ModelProto model = small_model();
  onnx::ValueInfoProto& input = *model.mutable_graph()->add_input();
  input.set_name("w");
  EXPECT_EQ(first_dense(model).inputs(), 2);
}

#endif

}  // namespace onnx_model_test
}  // namespace mixcert::test
