// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// certify --radius: bounds for all inputs of a ball, what is said of them, and what they are refused with.
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/model_files.h"
#include "cli/program.h"
#include "mixcert/io/result_file.h"

namespace mixcert::test {
namespace radius_command_test {

using Words = std::vector<std::string>;

class RadiusCommand : public CommandLineTest {
 protected:
  RadiusCommand() {
    save_network(directory_ / "net.safetensors", small_network({3, 6, 2}));
    write_inputs(directory_ / "x.csv", 4, 3);
  }

  static Words command(const Words& options) {
    Words words = {"certify", "net.safetensors", "--inputs", "x.csv"};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }
};

TEST_F(RadiusCommand, FilesAndTextsSayWhereTheBoundsHold) {
  const std::string plain = run_well(command({"--out", "point.npz"}));
  EXPECT_EQ(plain.find("within"), std::string::npos);
  const std::string text =
      run_well(command({"--radius", "0.25", "--out", "r.npz", "--json", "r.json", "--report", "r.html"}));
  EXPECT_CONTAINS(text,
                  "these hold at every input within 0.25 (largest change of a feature) of each, which costs");
  EXPECT_CONTAINS(read_text(directory_ / "r.html"), "every input within 0.25 (largest change of a feature)");
  const StoredRun point = read_run(directory_ / "point.npz"), ball = read_run(directory_ / "r.npz");
  const auto json = nlohmann::json::parse(read_text(directory_ / "r.json"))["results"];
  for (std::size_t i = 0; i < 4; ++i) {
    const StoredResult& there = ball.results[i];
    EXPECT_TRUE(std::isnan(point.results[i].input_change));
    EXPECT_GT(there.input_change, 0.0);
    EXPECT_NEAR(there.w2_bound, point.results[i].w2_bound + there.input_change, 1e-12);
    EXPECT_EQ(json[i]["w2_input_change"], there.input_change);
    EXPECT_EQ(ball.result(static_cast<Index>(i)).input_change, there.input_change);
  }
  EXPECT_CONTAINS(run_well(command({"--radius", "0.25", "--norm", "2"})), "within 0.25 (Euclidean distance)");
}

TEST_F(RadiusCommand, AnswersSayWhereTheyHold) {
  (void)run_well(command({"--radius", "0.25", "--out", "r.npz"}));
  EXPECT_CONTAINS(run_well({"answer", "r.npz", "--json", "a.json", "--report", "a.html"}),
                  "the ranges hold at every input within 0.25 (largest change of a feature) of each input");
  EXPECT_CONTAINS(read_text(directory_ / "a.json"), "\"holds_at\"");
  EXPECT_CONTAINS(read_text(directory_ / "a.html"), "every input within 0.25");
  expect_refusal({"answer", "r.npz", "--simulate"}, {"--simulate", "ball"});
}

TEST_F(RadiusCommand, WhatIsAboutOneInputIsRefused) {
  expect_refusal(command({"--radius", "0"}), {"--radius", "above 0"});
  expect_refusal(command({"--norm", "2"}), {"--norm", "--radius"});
  expect_refusal(command({"--radius", "1", "--norm", "1"}), {"--norm", "inf"});
  for (const std::string other : {"--joint", "--simulate"})
    expect_refusal(command({"--radius", "1", other}), {"--radius", other});
  expect_refusal(command({"--radius", "1", "--statistics", "100"}), {"--radius", "--statistics"});
  expect_refusal(command({"--radius", "1", "--proof", "p.proof"}), {"--proof", "--radius"});
  (void)run_well(command({"--radius", "0.25", "--out", "r.npz"}));
  expect_refusal({"explain", "r.npz"}, {"explain", "--radius"});
}

}  // namespace radius_command_test
}  // namespace mixcert::test
