// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// `mixcert data` as its users meet it, handed over from mixcert to mixcert-lab.
#include <sstream>

#include "cli/program.h"
#include "io/formats/npy.h"

namespace mixcert::test {
namespace data_command_test {

using DataCommand = CommandLineTest;
using Words = std::vector<std::string>;

class DataHelp : public CommandLineTest, public ::testing::WithParamInterface<Words> {};

TEST_P(DataHelp, FitsAScreenAndShowsAnExample) {
  Words words = GetParam();
  std::string command = "mixcert";
  for (const std::string& word : words) command += " " + word;
  words.push_back("--help");
  const std::string text = run_well(words);
  EXPECT_CONTAINS(text, "Usage: " + command);
  EXPECT_CONTAINS(text, "Example:\n  " + command);
  std::istringstream stream(text);
  int lines = 0;
  for (std::string line; std::getline(stream, line); ++lines) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_LE(lines, 24) << text;
}

INSTANTIATE_TEST_SUITE_P(Commands, DataHelp,
                         ::testing::Values(Words{"data"}, Words{"data", "list"}, Words{"data", "show"},
                                           Words{"data", "fetch"}, Words{"data", "export"}));

TEST_F(DataCommand, ListNamesEverySet) {
  const std::string text = run_well({"data", "list", "--data", "none"});
  for (const char* name : {"mnist", "fashion-mnist", "cifar10", "boston", "concrete", "energy", "kin8nm"}) {
    EXPECT_CONTAINS(text, std::string("\n") + name + " ");
  }
  EXPECT_CONTAINS(text, "noisy-sines    always");
  EXPECT_CONTAINS(text, "Data folder: none");
}

TEST_F(DataCommand, ShowOfTheGeneratedSet) {
  const std::string text = run_well({"data", "show", "noisy-sines"});
  EXPECT_CONTAINS(text, "examples       1024 train, 102 test\n");
  EXPECT_CONTAINS(text, "train target mean");
}

TEST_F(DataCommand, ExportWritesRowsAsTheNetworkSeesThem) {
  const Words command = {"data", "export", "noisy-sines", "--split", "train"};
  const auto with = [&command](Words more) {
    more.insert(more.begin(), command.begin(), command.end());
    return more;
  };
  EXPECT_EQ(run_well(with({"--first", "1020", "--count", "4", "--out", "x.npy", "--targets", "y.npy"})),
            "wrote x.npy [4, 1]\nwrote y.npy [4, 1]\n");
  const Array inputs = read_npy(directory_ / "x.npy");
  EXPECT_EQ(inputs.shape, (std::vector<Index>{4, 1}));
  EXPECT_EQ(run_well(with({"--first", "1023", "--count", "1", "--out", "last.npy", "--amplitude", "5"})),
            "wrote last.npy [1, 1]\n");
  EXPECT_EQ(read_npy(directory_ / "last.npy").values[0], inputs.values[3]);
}

TEST_F(DataCommand, RefusesInOneLine) {
  expect_refusal({"data"}, {"expected list|show|fetch|export, got none"});
  expect_refusal({"data", "frob"}, {"expected list|show|fetch|export, got 'frob'"});
  expect_refusal({"data", "show"}, {"NAME"});
  expect_refusal({"data", "show", "imagenet"}, {"expected mnist|", "got 'imagenet'"});
  expect_refusal({"data", "show", "mnist", "--data", "none"}, {"no such file", "mixcert data fetch mnist"});
  expect_refusal({"data", "show", "noisy-sines", "--noise", "-1"}, {"--noise"});
  expect_refusal({"data", "show", "noisy-sines", "--split-index", "x"}, {"--split-index"});
  expect_refusal({"data", "fetch", "boston", "--data", "none"}, {"expected --from FOLDER with boston.csv"});
  expect_refusal({"data", "export", "noisy-sines", "--count", "103", "--out", "x.npy"},
                 {"at most 102, got 103"});
  expect_refusal({"data", "export", "noisy-sines", "--out", "x.npy", "--targets", "x.npy"}, {"--targets"});
  expect_refusal({"data", "export", "noisy-sines", "--split", "all", "--out", "x.npy"}, {"train|test"});
}

}  // namespace data_command_test
}  // namespace mixcert::test
