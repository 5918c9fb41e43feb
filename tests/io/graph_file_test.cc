// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Graphs in model files: what is saved loads the same, entries name each other, and wrong graphs are refused
// before any tensor is read.
#include "io/formats/safetensors.h"
#include "io/test_files.h"
#include "mixcert/io/model_file.h"
#include "mixcert/network/layer_spec.h"
#include "support/naive_specs.h"
#include "support/random_graphs.h"
#include "support/random_specs.h"

namespace mixcert {
namespace graph_file_test {

using test::message_of;

class GraphFiles : public ::testing::Test {
 protected:
  std::string refusal(const std::string& architecture) {
    write_safetensors(path_, {}, {{"format", "mixcert-network"}, {"architecture", architecture}});
    return message_of<FileError>([&] { load_layers(path_); });
  }

  test::TempDirectory directory_;
  std::filesystem::path path_ = directory_ / "m.safetensors";
};

TEST_F(GraphFiles, SavedGraphsLoadTheSame) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const auto parts = seed % 4 < 2 ? testing::GraphParts::Plain : testing::GraphParts::Operators;
    const auto [layers, input] = testing::random_graph(seed, seed % 2 == 0, 0.2, parts);
    save_layers(path_, layers);
    const std::vector<LayerSpec> again = load_layers(path_);
    ASSERT_EQ(again.size(), layers.size());
    for (std::size_t k = 0; k < layers.size(); ++k) {
      EXPECT_EQ(title(again[k]), title(layers[k]));
      EXPECT_EQ(node_name(again[k]), node_name(layers[k]));
      EXPECT_EQ(again[k].inputs, layers[k].inputs);
    }
    EXPECT_EQ(input_shape(again), input);
    Generator generator = make_generator(seed, Stream::Example, 3020);
    const testing::ExactVector x = testing::exact(testing::random_vector(generator, input.size()));
    EXPECT_EQ(testing::naive_layers(again, input, x), testing::naive_layers(layers, input, x));
    save_layers(directory_ / "again.safetensors", again);
    EXPECT_EQ(test::read_text(directory_ / "again.safetensors"), test::read_text(path_));
    EXPECT_EQ(load_ensemble(path_).inputs(), input.size());
  }
}

TEST_F(GraphFiles, FactorsAndSummandsMayBeAbsent) {
  const std::vector<LayerSpec> layers = {AffineSpec{"s", Vector::Constant(1, 2.0), {}},
                                         AffineSpec{"t", {}, Vector::Ones(3)}};
  save_layers(path_, layers);
  const std::vector<LayerSpec> again = load_layers(path_);
  EXPECT_EQ(std::get<AffineSpec>(again[0].variant()).scale, Vector::Constant(1, 2.0));
  EXPECT_EQ(std::get<AffineSpec>(again[0].variant()).shift.size(), 0);
  EXPECT_EQ(std::get<AffineSpec>(again[1].variant()).scale.size(), 0);
  EXPECT_EQ(input_shape(again).size(), 3);
}

TEST_F(GraphFiles, APoolMaySeeTheInputThatAConvolutionTold) {
  Generator generator = make_generator(3, Stream::Example, 3021);
  const LayerShape image{2, {4, 4}, true};
  const Window2d window{{3, 3}, {1, 1}, {1, 1}, {1, 1}};
  const std::vector<LayerSpec> layers = {
      testing::same_convolution(generator, image, true, "c"), seeing(MaxPool2dSpec{window}, "p", {"input"}),
      seeing(ConcatSpec{}, "both", {"c", "p"}), seeing(ReshapeSpec{{64, {}, false}}, "", {"both"})};
  save_layers(path_, layers);
  EXPECT_EQ(load_layers(path_)[1].inputs, std::vector<std::string>{"input"});
}

const std::string kDense = R"({"type":"dense","name":"a","in":2,"out":3})";

TEST_F(GraphFiles, WrongGraphsAreRefused) {
  const auto behind = [](const std::string& entries) { return "[" + kDense + "," + entries + "]"; };
  EXPECT_CONTAINS(refusal(behind(R"({"type":"flatten","inputs":["x"]})")),
                  "architecture: entry 1 (flatten) sees 'x': expected 'input' or an entry before it, got no "
                  "entry of that name");
  EXPECT_CONTAINS(refusal(behind(R"({"type":"flatten","name":"f","inputs":["f"]})")),
                  "flatten 'f' sees itself");
  EXPECT_CONTAINS(refusal(behind(R"({"type":"add","name":"s","inputs":["a"]})")),
                  "add 's': expected two inputs or more, got 1");
  EXPECT_CONTAINS(refusal(behind(R"({"type":"dense","name":"b","in":3,"out":2},)"
                                 R"({"type":"add","name":"s","inputs":["a","b"]})")),
                  "architecture[2]: add 's': expected inputs of one shape, got 3 and 2");
  EXPECT_CONTAINS(refusal(behind(R"({"type":"reshape","shape":[2,2,2]})")),
                  "architecture[1]: reshape: shape: expected 3 values");
  EXPECT_CONTAINS(refusal(behind(R"({"type":"reshape","shape":[2,2]})")), "[n] or [channels, height, width]");
  EXPECT_CONTAINS(refusal(behind(R"({"type":"flatten","inputs":[]})")),
                  "inputs: expected a list that is not empty");
  EXPECT_CONTAINS(refusal(behind(R"({"type":"flatten","inputs":[1]})")), "inputs: expected names of entries");
  EXPECT_CONTAINS(refusal(behind(R"({"type":"flatten","inputs":[""]})")), "expected names, got an empty one");
  EXPECT_CONTAINS(refusal(behind(R"({"type":"flatten","name":"a"})")), "got 'a' twice");
  EXPECT_CONTAINS(refusal(behind(R"({"type":"flatten","name":"input"})")), "another name than 'input'");
  EXPECT_CONTAINS(refusal(behind(R"({"type":"flatten","inputs":["a","a"]})")), "expected one input, got 2");
  EXPECT_CONTAINS(refusal(behind(R"({"type":"mean"})")), "got a vector of 3");
  // Doubled as often as a list is long.
  std::string doubled = kDense;
  for (int k = 0; k < 40; ++k) {
    const std::string before = k == 0 ? "a" : "c" + std::to_string(k - 1);
    doubled += R"(,{"type":"concat","name":"c)" + std::to_string(k) + R"(","inputs":[")" + before + R"(",")" +
               before + R"("]})";
  }
  EXPECT_CONTAINS(refusal("[" + doubled + "]"), "at most 2^31 - 1 values");
}

}  // namespace graph_file_test
}  // namespace mixcert
