// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Writes small valid files of every kind, the fuzzers' starting points:
//     make_corpus DIR
// makes DIR/npy, DIR/csv, DIR/npz, DIR/safetensors, DIR/model, DIR/results, DIR/idx, DIR/table, DIR/torch,
// DIR/kernel and DIR/checker.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "io/formats/npy.h"
#include "io/formats/safetensors.h"
#include "mixcert/certify/certify.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/proof_file.h"
#include "mixcert/io/result_file.h"

namespace {

using mixcert::Array;
namespace fs = std::filesystem;

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void make_npy(const fs::path& directory) {
  mixcert::write_npy(directory / "matrix", {{2, 3}, {1, 2, 3, 4, 5, 6}});
  mixcert::write_npy(directory / "vector", {{2}, {1, 2}});
  mixcert::write_npy(directory / "scalar", {{}, {1}});
  const std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1, 2), }\n";
  const std::string prefix("\x93NUMPY\x02\x00", 8);
  write_text(directory / "fortran", prefix + std::string(1, static_cast<char>(header.size())) +
                                        std::string(3, '\0') + header + std::string(16, '\x3f'));
}

void make_csv(const fs::path& directory) {
  write_text(directory / "plain", "1,2\n3,4.5e-3\n");
  write_text(directory / "header", "a,b\r\n-1,+2\r\n\r\n");
}

void make_npz(const fs::path& directory) {
  mixcert::write_npz(directory / "two", {{"a", {{2}, {1, 2}}}, {"b", {{1, 1}, {3}}}});
}

const char* const kArchitecture = R"([{"type":"dense","name":"0","in":2,"out":1},)"
                                  R"({"type":"activation","function":"leaky_relu","slope":0.1},)"
                                  R"({"type":"dense","name":"1","in":1,"out":2}])";

/// One model per weight family of the first layer and bias family of the second.
void make_models(const fs::path& directory) {
  const Array pair{{1, 2}, {1, 2}};
  const Array square{{2, 2}, {2, 1, 1, 2}};
  const Array unit{{1, 1}, {1}};
  const std::map<std::string, std::map<std::string, Array>> families = {
      {"deterministic", {}},
      {"mean_field", {{"0.weight.variance", pair}, {"0.bias.variance", {{1}, {1}}}}},
      {"kronecker", {{"0.weight.row_covariance", unit}, {"0.weight.column_covariance", square}}},
      {"eigenbasis",
       {{"0.weight.row_basis", unit}, {"0.weight.column_basis", square}, {"0.weight.variance", pair}}},
      {"low_rank", {{"0.weight.variance", pair}, {"0.weight.factor", {{2, 2}, {1, 2, 3, 4}}}}},
      {"full", {{"0.weight.covariance", square}, {"1.bias.covariance", square}}},
      {"joint", {{"0.covariance", {{3, 3}, {2, 1, 0, 1, 2, 1, 0, 1, 2}}}}},
  };
  for (const auto& [family, law] : families) {
    std::map<std::string, Array> tensors = {{"0.weight.mean", pair},
                                            {"0.bias.mean", {{1}, {1}}},
                                            {"1.weight.mean", {{2, 1}, {1, 2}}},
                                            {"1.bias.mean", {{2}, {1, 2}}}};
    tensors.insert(law.begin(), law.end());
    mixcert::write_safetensors(directory / family, tensors,
                               {{"format", "mixcert-network"}, {"architecture", kArchitecture}});
  }
}

/// Layers of every other type, with the tensors they want.
void make_layer_models(const fs::path& directory) {
  const std::string convolution =
      R"({"type":"conv2d","name":"c","in":2,"out":2,"height":3,"width":3,"kernel":[2,1],"stride":1,)"
      R"("padding":[1,0],"dilation":1,"groups":2})";
  const std::string flat_dense = R"({"type":"flatten"},{"type":"dense","name":"d","in":)";
  const Array kernel{{2, 1, 2, 1}, {1, -1, 2, 0.5}};
  const Array pair{{2}, {1, 2}};
  const std::map<std::string, Array> stochastic = {{"c.weight.mean", kernel},
                                                   {"c.weight.variance", {{2, 1, 2, 1}, {1, 1, 2, 0.5}}},
                                                   {"c.bias.mean", pair},
                                                   {"c.bias.variance", pair}};
  const auto write = [&](const std::string& name, const std::string& architecture,
                         std::map<std::string, Array> tensors,
                         const std::map<std::string, Array>& more = {}) {
    tensors.insert(more.begin(), more.end());
    mixcert::write_safetensors(directory / name, tensors,
                               {{"format", "mixcert-network"}, {"architecture", "[" + architecture + "]"}});
  };
  const auto row = [](mixcert::Index size) {
    return Array{{1, size}, std::vector<double>(static_cast<std::size_t>(size), 0.5)};
  };
  write("convolution", convolution, stochastic);
  write("graph",
        R"({"type":"dense","name":"a","in":2,"out":2},{"type":"affine","name":"s","inputs":["input"]},)"
        R"({"type":"add","name":"b","inputs":["a","s"]},{"type":"concat","inputs":["b","a"]},)"
        R"({"type":"reshape","shape":[1,2,2]},{"type":"mean"})",
        {{"a.weight.mean", {{2, 2}, {1, 2, 3, 4}}},
         {"a.weight.variance", {{2, 2}, {1, 2, 3, 4}}},
         {"s.scale", pair},
         {"s.shift", {{1}, {1}}}});
  write("features",
        convolution + R"(,{"type":"activation","function":"relu"},{"type":"max_pool2d","kernel":2},)" +
            flat_dense + R"(4,"out":1,"law":"student_t","degrees":5})",
        {{"c.weight", kernel}, {"c.bias", pair}}, {{"d.weight.mean", row(4)}, {"d.weight.variance", row(4)}});
  write("pools",
        convolution + R"(,{"type":"max_pool2d","kernel":[2,3],"stride":2,"padding":[1,0]},)"
                      R"({"type":"avg_pool2d","kernel":2,"stride":[1,2],"padding":1})",
        stochastic);
  write("batch_norm", convolution + R"(,{"type":"batch_norm","name":"n","features":2,"epsilon":1e-5})",
        stochastic,
        {{"n.weight", pair}, {"n.bias", pair}, {"n.running_mean", pair}, {"n.running_variance", pair}});
  write(
      "dropout",
      R"({"type":"dropout","rate":0.5},{"type":"gaussian_noise","std":0.25},{"type":"gaussian_dropout","rate":0.5},)"
      R"({"type":"dense","name":"d","in":2,"out":1,"law":"laplace"})",
      {{"d.weight.mean", row(2)}, {"d.weight.variance", row(2)}});
  write(
      "residual",
      R"({"type":"dense","name":"a","in":2,"out":1},{"type":"residual","layers":[{"type":"activation","function":"tanh"},)"
      R"({"type":"dense","name":"d","in":1,"out":1},{"type":"residual","layers":[{"type":"flatten"}]}]})",
      {{"a.weight.mean", row(2)}, {"d.weight.mean", row(1)}});
  write("mixture",
        R"({"type":"mixture","weights":[0.25,0.75],"layers":[{"type":"dense","name":"a","in":2,"out":1},)"
        R"({"type":"dense","name":"d","in":2,"out":1}]})",
        {{"a.weight.mean", row(2)}, {"d.weight.mean", row(2)}});
}

void make_safetensors(const fs::path& directory) {
  mixcert::write_safetensors(directory / "tiny", {{"a", {{1}, {1}}}, {"b", {{0, 2}, {}}}}, {{"k", "v"}});
}

void make_all_models(const fs::path& directory) {
  make_models(directory);
  make_layer_models(directory);
}

/// Everything a result file may hold.
void make_whole_result(const fs::path& path, bool joint) {
  mixcert::RunRecord run;
  run.version = "1.0";
  run.options = {{"signature-size", "10"}, {"epsilon", ""}, {"joint", joint ? "true" : "false"}};
  run.members = {{"ab", 0.5}, {"cd", 0.5}};
  run.model_files = {"a", "b"};
  run.assumptions = {"c"};
  run.outputs = 1;
  run.joint = joint;
  mixcert::Result result;
  const mixcert::Index outputs = joint ? 2 : 1;
  const mixcert::Vector mean = mixcert::Vector::Zero(outputs);
  result.mixture =
      mixcert::GaussianMixture(mixcert::Vector::Ones(1), {{mean, mixcert::Covariance::diagonal(mean)}});
  result.layers = {{1, 1, 1, 1, 1, 1, "m", "H.3"}};
  result.statistics = mixcert::TwoSidedStatistics{};
  const mixcert::Matrix inputs = mixcert::Matrix::Ones(1, outputs);
  mixcert::InputNoise noise;
  for (int i = 0; i < 2 && !joint; ++i) {
    noise.components.push_back({0.5, mean, mixcert::IndependentBias{mixcert::Vector::Ones(1)}});
  }
  mixcert::ResultWriter writer(path, std::nullopt, run);
  writer.add_inputs(inputs, noise);
  writer.add(result);
  writer.finish();
}

void make_results(const fs::path& directory) {
  mixcert::write_npz(directory / "one", {{"weights", {{1, 2}, {1, 0}}},
                                         {"means", {{1, 2, 1}, {1, 0}}},
                                         {"covariances", {{1, 2, 1, 1}, {1, 0}}},
                                         {"w2_bound", {{1}, {1}}},
                                         {"relative_w2_bound", {{1}, {1}}}});
  mixcert::write_npz(directory / "law", {{"weights", {{1, 1}, {1}}},
                                         {"means", {{1, 1, 1}, {1}}},
                                         {"covariances", {{1, 1, 1, 1}, {1}}},
                                         {"w2_bound", {{1}, {1}}},
                                         {"relative_w2_bound", {{1}, {1}}},
                                         {"law_grid", {{1, 4}, {-1, 1, 0.1, 0}}},
                                         {"law_values", {{1, 3}, {0, 0.5, 1}}},
                                         {"law_density", {{1, 3}, {0, 1, 0}}}});
  for (const bool joint : {false, true}) make_whole_result(directory / (joint ? "joint" : "whole"), joint);
}

void make_idx(const fs::path& directory) {
  write_text(directory / "labels", std::string("\0\0\x08\x01\0\0\0\x02", 8) + "ab");
  write_text(directory / "images", std::string("\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x02", 16) + "ab");
  write_text(directory / "cifar", std::string("\x03", 1) + "abcdefghijkl");
}

void make_table(const fs::path& directory) {
  write_text(directory / "split",
             std::string("x,y\n1,2\n3,4\n5,6\n\0", 17) + R"({"splits":[{"train":[0,2],"test":[1]}]})");
}

void make_kernel(const fs::path& directory) {
  write_text(directory / "sum", "rbf(lengthscale=[1, 2.5e-1], variance=1) + white(variance=0.01)");
  write_text(directory / "product", "(matern32 + linear(center=-1)) * periodic(period=2, lengthscale=1)");
  write_text(directory / "mean", "linear(weights=[1, -2], offset=0.5)");
}

/// Pickles alone: a dictionary with a number, and a tensor.
void make_torch(const fs::path& directory) {
  const std::string empty("\x80\x02}.", 4);
  write_text(directory / "empty", empty);
  const std::string text("X\x01\x00\x00\x00w", 6);
  write_text(directory / "number", std::string("\x80\x02}q\x01(", 6) + text + "K\x05u.");
  const std::string storage =
      std::string("(X\x07\x00\x00\x00storagectorch\nFloatStorage\n", 32) + text + text + "K\x02tQ";
  write_text(directory / "tensor",
             std::string("\x80\x02}(", 4) + text + "ctorch._utils\n_rebuild_tensor_v2\n(" + storage +
                 std::string("K\x00K\x02\x85K\x01\x85\x89", 9) + "ccollections\nOrderedDict\n)RtRu.");
}

/// A model behind its length, and a proof of it.
void make_checker(const fs::path& directory) {
  using mixcert::Matrix;
  using mixcert::Vector;
  for (const char* function : {"relu", "tanh"}) {
    const auto layer = [](const std::string& name, mixcert::Index inputs, mixcert::Index outputs) {
      return mixcert::DenseLayer(name, Matrix::Constant(outputs, inputs, 0.5), Vector::Ones(outputs),
                                 mixcert::MeanFieldWeights{Matrix::Constant(outputs, inputs, 0.1)},
                                 mixcert::IndependentBias{Vector::Ones(outputs)});
    };
    const mixcert::Activation f(mixcert::parse_activation_function(function));
    const mixcert::Network network({layer("a", 1, 2), layer("b", 2, 2), layer("c", 2, 1)},
                                   {mixcert::Activation(), f, f});
    const fs::path model = directory / "model", proof = directory / "proof";
    mixcert::save_network(model, network);
    const mixcert::Options options = mixcert::options_with_proof({}, network);
    mixcert::ProofWriter writer(proof, network, std::string(64, '0'), options);
    const Matrix input = Matrix::Ones(1, 1);
    writer.add(mixcert::certify(network, input, options).front(), input.col(0));
    writer.finish();
    const auto length = fs::file_size(model);
    std::ofstream out(directory / function, std::ios::binary);
    out.put(static_cast<char>(length / 256)).put(static_cast<char>(length % 256));
    out << std::ifstream(model, std::ios::binary).rdbuf() << std::ifstream(proof, std::ios::binary).rdbuf();
    fs::remove(model);
    fs::remove(proof);
  }
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) {
    std::cerr << "usage: make_corpus DIR\n";
    return 2;
  }
  const std::map<std::string, void (*)(const fs::path&)> makers = {
      {"npy", make_npy},          {"csv", make_csv},
      {"npz", make_npz},          {"safetensors", make_safetensors},
      {"model", make_all_models}, {"results", make_results},
      {"idx", make_idx},          {"table", make_table},
      {"kernel", make_kernel},    {"torch", make_torch},
      {"checker", make_checker},
  };
  for (const auto& [name, make] : makers) {
    const fs::path directory = fs::path(arguments[1]) / name;
    fs::create_directories(directory);
    make(directory);
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "make_corpus: " << error.what() << '\n';
  return 1;
}
