// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert import of ONNX models: from the file to a certificate, and mistakes in one line.
#include "cli/model_files.h"
#include "cli/program.h"
#include "io/formats/npy.h"
#include "io/formats/safetensors.h"
#include "mixcert/io/model_file.h"
#ifdef MIXCERT_HAS_ONNX
#include "io/onnx_files.h"
#endif

namespace mixcert::test {
namespace onnx_command_test {

using OnnxCommand = CommandLineTest;

TEST_F(OnnxCommand, WeightsStillNeedTheirArchitecture) {
  write_npz(directory_ / "w.npz", {{"0.weight", {{1, 1}, {1}}}});
  expect_refusal({"import", "w.npz", "--arch", "1-1", "--out", "n.safetensors"}, {"--from is required"});
  expect_refusal({"import", "w.npz", "--from", "plain", "--out", "n.safetensors"}, {"--arch is required"});
  expect_refusal({"import", "w.npz", "--from", "plain", "--arch", "1-1", "--deviations", "d.npz", "--out",
                  "n.safetensors"},
                 {"--deviations", "ONNX"});
}

#ifndef MIXCERT_HAS_ONNX

TEST_F(OnnxCommand, SaysHowToGetTheReader) {
  write_text(directory_ / "m.onnx", "x");
  expect_refusal({"import", "m.onnx", "--out", "n.safetensors"},
                 {"m.onnx", "libonnx-dev", "MIXCERT_WITH_ONNX"});
}

#else

/// 2 - 3 - 1 with a skip around the activation and a softmax-free end.
void write_model(const std::filesystem::path& path) {
  onnx::ModelProto model = empty_model({2});
  onnx::GraphProto& graph = *model.mutable_graph();
  add_numbers(graph, "a.weight", {2, 3}, {1, -1, 2, 0.5, 1, -2});
  add_numbers(graph, "a.bias", {3}, {0.1F, 0.2F, 0.3F});
  add_numbers(graph, "b.weight", {3, 1}, {1, 2, 3});
  add_node(graph, "Gemm", {"x", "a.weight", "a.bias"}, "h");
  add_node(graph, "Tanh", {"h"}, "t");
  add_node(graph, "Add", {"t", "h"}, "s");
  add_node(graph, "MatMul", {"s", "b.weight"}, "y");
  write_text(path, model.SerializeAsString());
}

TEST_F(OnnxCommand, ModelToCertificate) {
  write_model(directory_ / "m.onnx");
  write_safetensors(directory_ / "d.safetensors",
                    {{"a.weight", {{2, 3}, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1}}},
                     {"b.weight.variance", {{3, 1}, {0.04, 0.04, 0.04}}}},
                    {});
  const std::string out =
      run_well({"import", "m.onnx", "--deviations", "d.safetensors", "--out", "net.safetensors"});
  EXPECT_CONTAINS(out, "dense 'a'");
  EXPECT_CONTAINS(out, "wrote net.safetensors");
  EXPECT_EQ(out.find("note:"), std::string::npos);
  EXPECT_CONTAINS(run_well({"import", "m.onnx", "--out", "fixed.safetensors"}),
                  "note: nothing in it is random");
  const std::vector<LayerSpec> layers = load_layers(directory_ / "net.safetensors");
  ASSERT_EQ(layers.size(), 4U);
  EXPECT_EQ(layers[2].inputs.size(), 2U);
  EXPECT_DOUBLE_EQ(std::get<DenseSpec>(layers[3].variant()).layer.weight_variances()(0, 0), 0.04);
  write_inputs(directory_ / "x.csv", 2, 2);
  (void)run_well({"certify", "net.safetensors", "--inputs", "x.csv", "--out", "r.npz"});
}

TEST_F(OnnxCommand, MistakesAreOneLine) {
  write_model(directory_ / "m.onnx");
  expect_refusal({"import", "m.onnx", "--from", "plain", "--out", "n.safetensors"}, {"--from", "m.onnx"});
  expect_refusal({"import", "m.onnx", "m.onnx", "--out", "n.safetensors"}, {"m.onnx", "several files"});
  expect_refusal({"import", "none.onnx", "--out", "n.safetensors"}, {"none.onnx"});
  write_text(directory_ / "bad.onnx", "no model");
  expect_refusal({"import", "bad.onnx", "--out", "n.safetensors"}, {"bad.onnx", "expected an ONNX model"});
  write_npz(directory_ / "d.npz", {{"c.weight", {{1}, {1}}}});
  expect_refusal({"import", "m.onnx", "--deviations", "d.npz", "--out", "n.safetensors"},
                 {"m.onnx", "'c.weight'"});
}

#endif

}  // namespace onnx_command_test
}  // namespace mixcert::test
