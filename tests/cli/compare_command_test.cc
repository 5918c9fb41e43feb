// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert compare: its report, joint results, and results that belong to something else.
#include <nlohmann/json.hpp>

#include "cli/model_files.h"
#include "cli/program.h"
#include "mixcert/io/model_file.h"

namespace mixcert::test {
namespace compare_command_test {

using nlohmann::json;
using Words = std::vector<std::string>;

class CompareCommand : public CommandLineTest {
 protected:
  CompareCommand() {
    save_network(directory_ / "net.safetensors", small_network({3, 6, 2}));
    write_inputs(directory_ / "x.csv", 3, 3);
  }

  void certify(const Words& options) const {
    Words words = {"certify", "net.safetensors", "--inputs", "x.csv", "--out", "r.npz"};
    words.insert(words.end(), options.begin(), options.end());
    (void)run_well(words);
  }
  [[nodiscard]] std::string compare() const {
    return run_well({"compare", "net.safetensors", "--inputs", "x.csv", "--result", "r.npz", "--samples",
                     "200", "--json", "c.json"});
  }
  [[nodiscard]] json report() const { return json::parse(read_text(directory_ / "c.json")); }
};

TEST_F(CompareCommand, EstimatesStandBesideTheBound) {
  certify({});
  const std::string out = compare();
  for (const char* part : {"certified W2", "lower (stat.)", "empirical W2", "its floor", "wrote c.json"}) {
    EXPECT_CONTAINS(out, part);
  }
  const json root = report();
  EXPECT_EQ(root["samples"], 200);
  ASSERT_EQ(root["results"].size(), 3U);
  for (const json& result : root["results"]) {
    EXPECT_LE(result["w2_lower_statistical"], result["w2_bound"]);
    EXPECT_GT(result["w2_empirical"], 0.0);
    EXPECT_GT(result["w2_empirical_floor"], 0.0);
  }
}

TEST_F(CompareCommand, MomentResultsHaveAnUpperEstimate) {
  certify({"--method", "moment"});
  const std::string out = compare();
  EXPECT_CONTAINS(out, "upper (stat.)");
  EXPECT_CONTAINS(out, "coupled simulation, fails with probability 1e-06");
  const json root = report();
  for (const json& result : root["results"]) {
    EXPECT_LE(result["w2_lower_statistical"], result["w2_upper_statistical"]);
    EXPECT_EQ(result["failure_probability"], 1e-6);
  }
}

TEST_F(CompareCommand, UpperEstimateIsThatOfCertify) {
  certify({"--method", "moment", "--pieces", "8", "--statistics", "200", "--json", "r.json"});
  (void)run_well({"compare", "net.safetensors", "--inputs", "x.csv", "--result", "r.npz", "--samples", "200",
                  "--pieces", "8", "--json", "c.json"});
  const json certified = json::parse(read_text(directory_ / "r.json"));
  const json compared = report();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(certified["results"][i]["w2_upper_statistical"],
              compared["results"][i]["w2_upper_statistical"]);
    EXPECT_EQ(certified["results"][i]["w2_lower_statistical"],
              compared["results"][i]["w2_lower_statistical"]);
  }
}

TEST_F(CompareCommand, ResultsOfAnotherMethodHaveNoUpperEstimate) {
  for (const Words& options : {Words{"--method", "signature"}, Words{"--method", "signature", "--joint"}}) {
    certify(options);
    EXPECT_CONTAINS(compare(), "upper (stat.): - where");
    const json root = report();
    for (const json& result : root["results"]) EXPECT_TRUE(result["w2_upper_statistical"].is_null());
  }
}

TEST_F(CompareCommand, JointResultsHaveTheirUpperEstimate) {
  certify({"--joint", "--method", "moment", "--statistics", "200", "--json", "r.json"});
  (void)run_well({"compare", "net.safetensors", "--inputs", "x.csv", "--result", "r.npz", "--samples", "200",
                  "--json", "c.json"});
  const json certified = json::parse(read_text(directory_ / "r.json"))["results"][0];
  const json compared = report()["results"][0];
  EXPECT_TRUE(compared["w2_upper_statistical"].is_number());
  EXPECT_EQ(certified["w2_upper_statistical"], compared["w2_upper_statistical"]);
}

TEST_F(CompareCommand, JointResultIsRecognised) {
  certify({"--joint"});
  EXPECT_CONTAINS(compare(), "joint");
  ASSERT_EQ(report()["results"].size(), 1U);
  EXPECT_LE(report()["results"][0]["w2_lower_statistical"], report()["results"][0]["w2_bound"]);
}

TEST_F(CompareCommand, MissingBoundIsNull) {
  certify({"--method", "cross"});
  (void)compare();
  const json parsed = report();
  for (const json& result : parsed["results"]) EXPECT_TRUE(result["w2_bound"].is_null());
}

TEST_F(CompareCommand, ResultOfOtherInputsIsRefused) {
  certify({});
  write_inputs(directory_ / "four.csv", 4, 3);
  expect_refusal({"compare", "net.safetensors", "--inputs", "four.csv", "--result", "r.npz"},
                 {"r.npz", "expected 4 rows", "got 3 rows"});
}

TEST_F(CompareCommand, ResultOfAnotherNetworkIsRefused) {
  certify({});
  save_network(directory_ / "other.safetensors", small_network({3, 6, 1}));
  expect_refusal({"compare", "other.safetensors", "--inputs", "x.csv", "--result", "r.npz"},
                 {"r.npz", "of 1 output", "rows of 2"});
}

TEST_F(CompareCommand, CorruptedResultsAreRefused) {
  certify({});
  const std::string good = read_text(directory_ / "r.npz");
  for (const double part : {0.0, 0.1, 0.5, 0.9, 0.999}) {
    write_text(directory_ / "cut.npz",
               good.substr(0, static_cast<std::size_t>(part * static_cast<double>(good.size()))));
    expect_refusal(
        {"compare", "net.safetensors", "--inputs", "x.csv", "--result", "cut.npz", "--json", "c.json"},
        {"cut.npz"});
  }
  std::string flipped = good;
  // A number of an array that compare reads: behind the name in the archive and the array's own head.
  const std::size_t number = good.find("means.npy") + 9 + 128;
  ASSERT_LT(number, good.size());
  for (std::size_t i = number; i < number + 8; ++i) flipped[i] = static_cast<char>(~flipped[i]);
  write_text(directory_ / "flipped.npz", flipped);
  expect_refusal({"compare", "net.safetensors", "--inputs", "x.csv", "--result", "flipped.npz"},
                 {"flipped.npz"});
}

TEST_F(CompareCommand, UnwritableReportIsFoundBeforeTheWork) {
  certify({});
  expect_refusal(
      {"compare", "net.safetensors", "--inputs", "x.csv", "--result", "r.npz", "--json", "missing/c.json"},
      {"missing/c.json"});
}

}  // namespace compare_command_test
}  // namespace mixcert::test
