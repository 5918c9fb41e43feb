// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Tables with splits, standardised with training rows.
#include "data/tables.h"

#include <cmath>

#include "data/load.h"
#include "lab/data/small_sets.h"

namespace mixcert::lab {
namespace tables_test {

using mixcert::test::message_of;
using mixcert::test::TempDirectory;
using test::SmallSet;

Dataset load(const TempDirectory& directory, const SmallSet& set, Index split_index) {
  return load_dataset({.name = "", .folder = directory / ".", .split_index = split_index}, set.entry);
}

/// Rows 0, 1, 3 have x1 = 1, 3, 5: mean 3, variance 8/3; x2 is constant; y = 10, 20, 30.
TEST(Tables, AreStandardisedWithTrainingRowsOnly) {
  const TempDirectory directory;
  const SmallSet set = test::small_table();
  set.write_to(directory / ".");
  const Dataset dataset = load(directory, set, 0);
  const Standardisation& used = dataset.standardisation;
  const double deviation = std::sqrt(8.0 / 3.0);
  EXPECT_DOUBLE_EQ(used.input_mean(0), 3.0);
  EXPECT_DOUBLE_EQ(used.input_scale(0), deviation);
  EXPECT_DOUBLE_EQ(used.input_mean(1), 5.0);
  EXPECT_DOUBLE_EQ(used.input_scale(1), 1.0) << "a constant column";
  EXPECT_DOUBLE_EQ(used.target_mean(0), 20.0);
  EXPECT_DOUBLE_EQ(used.target_scale(0), std::sqrt(200.0 / 3.0));
  EXPECT_FLOAT_EQ(dataset.train.inputs(2, 0), static_cast<float>(2.0 / deviation));
  EXPECT_FLOAT_EQ(dataset.test.inputs(0, 0), static_cast<float>(97.0 / deviation));
  EXPECT_FLOAT_EQ(dataset.test.inputs(0, 1), 2.0F);
  EXPECT_FLOAT_EQ(dataset.test.targets(0, 0), static_cast<float>(-70.0 / used.target_scale(0)));
  EXPECT_EQ(dataset.task, Task::Regression);
  EXPECT_EQ(dataset.outputs(), 1);
}

TEST(Tables, ChangingTestRowsChangesNoTrainingRow) {
  Array table{{3, 2}, {1, 2, 3, 4, 5, 6}};
  const RowSplit split{{0, 2}, {1}};
  const Dataset before = split_table(table, split);
  table.values[2] = 1e6;
  table.values[3] = -1e6;
  const Dataset after = split_table(table, split);
  EXPECT_EQ(before.train.inputs, after.train.inputs);
  EXPECT_EQ(before.train.targets, after.train.targets);
  EXPECT_NE(before.test.inputs, after.test.inputs);
}

TEST(Tables, SplitsKeepTheOrderOfTheFile) {
  const TempDirectory directory;
  const SmallSet set = test::small_table();
  set.write_to(directory / ".");
  const Dataset dataset = load(directory, set, 1);
  const Standardisation& used = dataset.standardisation;
  EXPECT_NEAR(dataset.train.targets(0, 0) * used.target_scale(0) + used.target_mean(0), 30.0, 1e-5);
  EXPECT_NEAR(dataset.train.targets(1, 0) * used.target_scale(0) + used.target_mean(0), -50.0, 1e-5);
  EXPECT_NEAR(dataset.test.targets(0, 0) * used.target_scale(0) + used.target_mean(0), 10.0, 1e-5);
}

TEST(Tables, SplitNumberMustExist) {
  const TempDirectory directory;
  const SmallSet set = test::small_table();
  set.write_to(directory / ".");
  for (const Index number : {Index{2}, Index{-1}}) {
    EXPECT_CONTAINS(message_of<InvalidArgument>([&] { load(directory, set, number); }),
                    "split index of t: expected 0..1, got " + std::to_string(number));
  }
}

TEST(Tables, ConstantColumnsWithRoundedMeansGetScaleOne) {
  // The mean of three 0.1 is not 0.1.
  const Array table{{4, 2}, {0.1, 1, 0.1, 2, 0.1, 3, 0.2, 4}};
  EXPECT_EQ(split_table(table, {{0, 1, 2}, {3}}).standardisation.input_scale(0), 1.0);
}

TEST(Tables, TruncatedFilesAreNeverLoaded) {
  const TempDirectory directory;
  const SmallSet set = test::small_table();
  for (const auto& [name, text] : set.contents) {
    set.write_to(directory / ".");
    for (std::size_t size = 0; size < text.size(); ++size) {
      test::put(directory / name, text.substr(0, size));
      EXPECT_CONTAINS(message_of<FileError>([&] { load(directory, set, 0); }), name + ": size: expected ");
    }
  }
}

TEST(Tables, ShapeMustBeThatOfTheCatalogue) {
  const TempDirectory directory;
  SmallSet set = test::small_table();
  set.entry.features = 3;
  set.write_to(directory / ".");
  EXPECT_CONTAINS(message_of<FileError>([&] { load(directory, set, 0); }),
                  "t.csv: table: expected [4, 4], got [4, 3]");
  set.entry.features = 2;
  set.entry.variants.front().train_size = 2;
  set.entry.variants.front().test_size = 2;
  EXPECT_CONTAINS(message_of<FileError>([&] { load(directory, set, 0); }),
                  "splits[0].train: expected 2 rows, got 3");
}

struct BadSplits {
  std::string text;
  std::string message;
};

class BadSplitsFile : public ::testing::TestWithParam<BadSplits> {};

TEST_P(BadSplitsFile, IsRefusedInOneLine) {
  const std::string message = message_of<FileError>([] { parse_splits(GetParam().text, "s.json", 3); });
  EXPECT_TRUE(message.starts_with("s.json: ")) << message;
  EXPECT_CONTAINS(message, GetParam().message);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSplitsFile,
    ::testing::Values(
        BadSplits{"", "valid JSON"}, BadSplits{"[]", "a JSON object"}, BadSplits{"{}", "splits"},
        BadSplits{R"({"splits":[]})", "at least one split"},
        BadSplits{R"({"splits":{"train":[]}})", "at least one split"},
        BadSplits{R"({"splits":[7]})", "splits[0]: expected a JSON object"},
        BadSplits{R"({"splits":[{"train":[0,1,2]}]})", "splits[0].test: expected a list"},
        BadSplits{R"({"splits":[{"train":[0,1,2],"test":[]}]})", "at least one row"},
        BadSplits{R"({"splits":[{"train":[0,1],"test":[3]}]})", "expected a row below 3, got 3"},
        BadSplits{R"({"splits":[{"train":[0,1],"test":[-1]}]})", "splits[0].test[0]"},
        BadSplits{R"({"splits":[{"train":[0,1],"test":[1.5]}]})", "splits[0].test[0]"},
        BadSplits{R"({"splits":[{"train":[0,1],"test":[1]}]})", "each row once, got row 1 again"},
        BadSplits{R"({"splits":[{"train":[0,0,1],"test":[2]}]})", "each row once"},
        BadSplits{R"({"splits":[{"train":[0],"test":[2]}]})", "expected all 3 rows, got 2"},
        BadSplits{R"({"splits":[{"train":[0,1],"test":[2],"more":1}]})", "only the keys"},
        BadSplits{R"({"splits":[{"train":[0,1],"test":[2]},{"train":[0],"test":[1]}]})", "splits[1]"},
        BadSplits{R"({"splits":[{"train":[0,1],"train":[0,1],"test":[2]}]})", "each key once"}));

}  // namespace tables_test
}  // namespace mixcert::lab
