// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert tune and mixcert compare-prior: what they print and write, and what they refuse.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/model_files.h"
#include "cli/program.h"
#include "mixcert/io/model_file.h"

namespace mixcert::test {
namespace tune_command_test {

using nlohmann::json;
using Words = std::vector<std::string>;

class TuneCommand : public CommandLineTest {
 protected:
  TuneCommand() { write_inputs(directory_ / "x.csv", 12, 1); }

  static Words words(const Words& more) {
    Words all = {"tune",
                 "--inputs",
                 "x.csv",
                 "--arch",
                 "1-5-4-1",
                 "--steps",
                 "4",
                 "--batch",
                 "3",
                 "--held-out",
                 "4",
                 "--samples",
                 "200",
                 "--threads",
                 "1",
                 "--coupled-samples",
                 "40",
                 "--empirical-samples",
                 "50",
                 "--out",
                 "p.safetensors"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(TuneCommand, WritesPriorAndHistory) {
  const std::string out = run_well(words({"--kernel", "rbf(lengthscale=0.5)", "--json", "t.json"}));
  for (const char* part : {"step", "tuned in 4 steps", "certified, at most", "coupled simulation", "Gelbrich",
                           "empirical", "its floor", "wrote p.safetensors", "wrote t.json"}) {
    EXPECT_CONTAINS(out, part);
  }
  const Network prior = load_network(directory_ / "p.safetensors");
  EXPECT_EQ(prior.layer(1).outputs(), 4);
  const json root = json::parse(read_text(directory_ / "t.json"));
  EXPECT_EQ(root["history"].size(), 4U);
  EXPECT_EQ(root["held_out"].size(), 4U);
  EXPECT_EQ(root["options"]["arch"], "1-5-4-1");
  const json& comparison = root["comparison"];
  EXPECT_GE(comparison["certified"]["w2"], comparison["statistical"]["w2_lower_statistical"]);
  EXPECT_GT(comparison["statistical"]["empirical_floor"], 0.0);
}

TEST_F(TuneCommand, ASecondRunWritesTheSameBytes) {
  (void)run_well(words({"--kernel", "matern32()"}));
  const std::string first = read_text(directory_ / "p.safetensors");
  (void)run_well(words({"--kernel", "matern32()"}));
  EXPECT_EQ(read_text(directory_ / "p.safetensors"), first);
}

TEST_F(TuneCommand, AMixtureIsATarget) {
  save_network(directory_ / "net.safetensors", small_network({1, 4, 1}));
  (void)run_well({"certify", "net.safetensors", "--inputs", "x.csv", "--joint", "--out", "r.npz"});
  EXPECT_CONTAINS(run_well(words({"--target", "r.npz", "--means", "biases"})), "wrote p.safetensors");
}

TEST_F(TuneCommand, ComparesAnyPrior) {
  save_network(directory_ / "net.safetensors", small_network({1, 4, 1}));
  const std::string out =
      run_well({"compare-prior", "net.safetensors", "--inputs", "x.csv", "--kernel", "rbf()", "--samples",
                "200", "--coupled-samples", "40", "--empirical-samples", "50", "--json", "c.json"});
  EXPECT_CONTAINS(out, "certified, at most");
  EXPECT_GT(json::parse(read_text(directory_ / "c.json"))["comparison"]["certified"]["w2"], 0.0);
}

TEST_F(TuneCommand, RefusesSizesInOneLine) {
  const auto refused = [&](const std::string& arch, const std::string& held_out, const std::string& part) {
    expect_refusal({"tune", "--inputs", "x.csv", "--kernel", "rbf()", "--arch", arch, "--held-out", held_out,
                    "--out", "p.safetensors"},
                   {part});
  };
  refused("2-4-1", "4", "--arch");
  refused("1-x-1", "4", "architecture");
  refused("1-1", "4", "--arch");
  refused("1-4-1", "12", "--held-out");
}

TEST_F(TuneCommand, RefusesInOneLine) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{}, "one of --kernel and --target"},
      {{"--kernel", "rbf()", "--target", "r.npz"}, "got both"},
      {{"--kernel", "rbf(lengthscale=-1)"}, "lengthscale"},
      {{"--kernel", "nothing()"}, "nothing"},
      {{"--kernel", "rbf()", "--beta", "2"}, "--beta"},
      {{"--kernel", "rbf(lengthscale=[1,2])"}, "lengthscale"},
      {{"--target", "missing.npz"}, "missing.npz"},
      {{"--kernel", "rbf()", "--json", "x.csv"}, "--json"}};
  for (const auto& [more, part] : cases) expect_refusal(words(more), {part});
}

}  // namespace tune_command_test
}  // namespace mixcert::test
