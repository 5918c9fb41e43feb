// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Wrong graphs in model files, as a user meets them: exit code 2 and one line that names the entry, what was
// expected and what was found. No tensor is looked at.
#include "cli/program.h"
#include "io/formats/safetensors.h"

namespace mixcert::test {
namespace bad_graphs_test {

struct WrongGraph {
  std::string name;
  std::string entries;  ///< behind dense 'a' with two inputs and three outputs
  std::string message;
};

void PrintTo(const WrongGraph& wrong, std::ostream* stream) { *stream << wrong.name; }

class WrongGraphFile : public CommandLineTest, public ::testing::WithParamInterface<WrongGraph> {};

TEST_P(WrongGraphFile, IsRefusedInOneLine) {
  const std::string list = R"([{"type":"dense","name":"a","in":2,"out":3},)" + GetParam().entries + R"(])";
  write_safetensors(directory_ / "net.safetensors", {},
                    {{"format", "mixcert-network"}, {"architecture", list}});
  const Finished finished = run({"inspect", "net.safetensors"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "mixcert: net.safetensors: " + GetParam().message + "\n");
}

const WrongGraph kWrongGraphs[] = {
    {"UnknownName", R"({"type":"dense","name":"b","in":3,"out":1,"inputs":["x"]})",
     "architecture: dense 'b' sees 'x': expected 'input' or an entry before it, got no entry of that name"},
    {"Itself", R"({"type":"dense","name":"b","in":3,"out":3,"inputs":["b"]})",
     "architecture: dense 'b' sees itself: expected entries before it, a network has no cycles"},
    {"ALaterEntry",
     R"({"type":"dense","name":"b","in":3,"out":3,"inputs":["c"]},{"type":"dense","name":"c","in":3,"out":1})",
     "architecture: dense 'b' sees 'c', a later entry: expected entries before it, a network has no cycles"},
    {"ANameTwice", R"({"type":"dense","name":"a","in":3,"out":1,"inputs":["a"]})",
     "architecture: dense 'a': expected a name that no other entry has, got 'a' twice"},
    {"TheNameOfTheInput", R"({"type":"flatten","name":"input","inputs":["a"]})",
     "architecture: flatten 'input': expected another name than 'input', which is what the list sees"},
    {"NobodySeesIt",
     R"({"type":"activation","function":"relu","inputs":["a"]},{"type":"dense","name":"b","in":3,"out":1,"inputs":["a"]})",
     "architecture: entry 1 (activation): expected a later entry that sees it, got none"},
    {"ASumOfOne", R"({"type":"add","name":"s","inputs":["a"]})",
     "architecture: add 's': expected two inputs or more, got 1"},
    {"ASumOfTwoShapes",
     R"({"type":"dense","name":"b","in":3,"out":2},{"type":"add","name":"s","inputs":["a","b"]})",
     "architecture[2]: add 's': expected inputs of one shape, got 3 and 2"},
    {"ConcatOfAnImageAndAVector",
     R"({"type":"reshape","name":"r","shape":[3,1,1]},{"type":"concat","name":"c","inputs":["r","a"]})",
     "architecture[2]: concat 'c': expected images of one size, or vectors, got 3 x 1 x 1 and 3"},
    {"AReshapeOfOtherSize", R"({"type":"reshape","name":"r","shape":[2,2,2]})",
     "architecture[1]: reshape 'r': shape: expected 3 values (outputs of the layer before), got 8 (2 x 2 x "
     "2)"},
    {"TwoInputsOfADenseLayer", R"({"type":"dense","name":"b","in":3,"out":1,"inputs":["a","input"]})",
     "architecture: dense 'b': expected one input, got 2"},
    {"TheMeanOfAVector", R"({"type":"mean","name":"m"})",
     "architecture[1]: mean 'm': expected a conv2d before it that tells the size of the image, got a vector "
     "of 3"},
    {"AFlattenIsMissing",
     R"({"type":"reshape","name":"r","shape":[3,1,1]},{"type":"dense","name":"b","in":3,"out":1})",
     "architecture[2]: dense 'b': expected a flatten between an image and a dense layer, got none"},
    {"OtherSizesThanTheEntryNamed",
     R"({"type":"dense","name":"b","in":3,"out":4},{"type":"dense","name":"c","in":4,"out":4,"inputs":["a"]},)"
     R"({"type":"add","inputs":["b","c"]})",
     "architecture[2]: dense 'c': in: expected 3 (outputs of the layer before), got 4"},
};

INSTANTIATE_TEST_SUITE_P(All, WrongGraphFile, ::testing::ValuesIn(kWrongGraphs),
                         [](const auto& test) { return test.param.name; });

}  // namespace bad_graphs_test
}  // namespace mixcert::test
