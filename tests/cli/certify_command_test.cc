// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert certify where all is well: files of the documented shape, every key of the report,
// every choice of method, certificate and grid, and what must not depend on threads.
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/model_files.h"
#include "cli/program.h"
#include "io/formats/npy.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/result_file.h"

namespace mixcert::test {
namespace certify_command_test {

using nlohmann::json;
using Words = std::vector<std::string>;
using Shape = std::vector<Index>;

constexpr Index kInputs = 7;
constexpr Index kOutputs = 2;

class CertifyCommand : public CommandLineTest {
 protected:
  CertifyCommand() {
    save_network(directory_ / "net.safetensors", small_network({3, 6, 5, kOutputs}));
    write_inputs(directory_ / "x.csv", kInputs, 3);
  }

  [[nodiscard]] std::string certify(const Words& options) const {
    Words words = {"certify", "net.safetensors", "--inputs", "x.csv", "--out", "r.npz", "--json", "r.json"};
    words.insert(words.end(), options.begin(), options.end());
    return run_well(words);
  }
  [[nodiscard]] json report() const { return json::parse(read_text(directory_ / "r.json")); }
  [[nodiscard]] Array array(const std::string& name) const { return read_npz(directory_ / "r.npz").at(name); }
};

void expect_shapes(const std::map<std::string, Array>& arrays, Index rows, Index components,
                   Index dimension) {
  EXPECT_EQ(arrays.size(), 16U);
  EXPECT_EQ(arrays.at("weights").shape, (Shape{rows, components}));
  EXPECT_EQ(arrays.at("means").shape, (Shape{rows, components, dimension}));
  EXPECT_EQ(arrays.at("covariances").shape, (Shape{rows, components, dimension, dimension}));
  EXPECT_EQ(arrays.at("w2_bound").shape, (Shape{rows}));
  EXPECT_EQ(arrays.at("relative_w2_bound").shape, (Shape{rows}));
  EXPECT_EQ(arrays.at("w1_bound").shape, (Shape{rows}));
  EXPECT_EQ(arrays.at("inputs").shape, (Shape{kInputs, 3}));
  EXPECT_EQ(arrays.at("method").shape, (Shape{rows}));
  EXPECT_EQ(arrays.at("layer_local").shape, (Shape{rows, 2}));
}

/// All arrays but the record of the run, which holds the command.
std::map<std::string, std::vector<double>> numbers_in(const std::filesystem::path& file) {
  std::map<std::string, std::vector<double>> numbers;
  for (const auto& [name, array] : read_npz(file)) {
    if (name != "run") numbers[name] = array.values;
  }
  return numbers;
}

void expect_keys(const json& object, const Words& keys) {
  for (const std::string& key : keys) EXPECT_TRUE(object.contains(key)) << key << " not in " << object;
}

TEST_F(CertifyCommand, WritesDocumentedArrays) {
  (void)certify({});
  const auto arrays = read_npz(directory_ / "r.npz");
  expect_shapes(arrays, kInputs, arrays.at("weights").shape.at(1), kOutputs);
  EXPECT_EQ(read_results(directory_ / "r.npz").size(), static_cast<std::size_t>(kInputs));
}

TEST_F(CertifyCommand, WritesDocumentedReport) {
  (void)certify({"--seed", "3"});
  const json root = report();
  expect_keys(root, {"mixcert", "model_sha256", "assumptions", "seed", "command", "results"});
  EXPECT_EQ(root["seed"], 3);
  EXPECT_EQ(root["command"],
            "mixcert certify net.safetensors --inputs x.csv --out r.npz --json r.json --seed 3");
  EXPECT_EQ(root["model_sha256"].get<std::string>().size(), 64U);
  EXPECT_FALSE(root["assumptions"].empty());
  ASSERT_EQ(root["results"].size(), static_cast<std::size_t>(kInputs));
  for (std::size_t i = 0; i < root["results"].size(); ++i) {
    const json& result = root["results"][i];
    expect_keys(result, {"input", "method", "certificate", "w2_bound", "w1_bound", "relative_w2_bound",
                         "components", "mean", "std", "seconds", "layers"});
    EXPECT_EQ(result["input"], i);
    EXPECT_EQ(result["w2_bound"], array("w2_bound").values[i]);
    EXPECT_LE(result["w1_bound"], result["w2_bound"]);
    EXPECT_EQ(result["mean"].size(), static_cast<std::size_t>(kOutputs));
    EXPECT_EQ(result["std"].size(), static_cast<std::size_t>(kOutputs));
    ASSERT_EQ(result["layers"].size(), 2U);
    for (const json& layer : result["layers"]) {
      expect_keys(layer, {"layer", "compression", "local", "gain"});
    }
  }
}

TEST_F(CertifyCommand, PrintsARowPerInputAndTheLayers) {
  const std::string out = certify({});
  for (const char* part : {"certified W2", "relative W2", "components", "time", "where the bound comes from",
                           "compression", "local", "gain", "wrote r.npz", "wrote r.json"}) {
    EXPECT_CONTAINS(out, part);
  }
  for (Index i = 0; i < kInputs; ++i) EXPECT_CONTAINS(out, "\n    " + std::to_string(i) + "  ");
}

TEST_F(CertifyCommand, StatisticsStandBesideTheBound) {
  const std::string out = certify({"--statistics", "400", "--failure-probability", "0.001"});
  for (const char* part : {"lower (stat.)", "upper (stat.)", "certified W2", "400 samples, not certified",
                           "asymptotic: finite fourth moments", "probability of 0.001", "looseness"}) {
    EXPECT_CONTAINS(out, part);
  }
  const json root = report();
  EXPECT_EQ(root["options"]["statistics"], 400);
  for (const json& result : root["results"]) {
    ASSERT_EQ(result["method"], "moment");
    EXPECT_LE(result["w2_lower_statistical"], result["w2_upper_statistical"]);
    EXPECT_LE(result["w2_coupled_cost"], result["w2_upper_statistical"]);
    EXPECT_EQ(result["failure_probability"], 0.001);
    EXPECT_EQ(result["statistics_samples"], 400);
    EXPECT_EQ(result["statistics_assumption"], "asymptotic: finite fourth moments");
    EXPECT_DOUBLE_EQ(result["looseness_least"].get<double>(),
                     result["w2_bound"].get<double>() / result["w2_upper_statistical"].get<double>());
  }
}

TEST_F(CertifyCommand, StatisticsOfOtherMethodsHaveNoUpperEstimate) {
  for (const Words& options : {Words{"--method", "signature"}, Words{"--method", "cross"},
                               Words{"--joint", "--method", "signature"}}) {
    Words words = {"--statistics", "100"};
    words.insert(words.end(), options.begin(), options.end());
    EXPECT_CONTAINS(certify(words), "no upper estimate");
    const json root = report();
    for (const json& result : root["results"]) {
      EXPECT_TRUE(result["w2_upper_statistical"].is_null());
      EXPECT_TRUE(result["looseness_least"].is_null());
      EXPECT_GE(result["w2_lower_statistical"], 0.0);
    }
  }
}

TEST_F(CertifyCommand, StatisticsDoNotDependOnThreads) {
  (void)certify({"--statistics", "300", "--threads", "1"});
  const json one = report()["results"];
  (void)certify({"--statistics", "300", "--threads", "3"});
  const json three = report()["results"];
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i]["w2_upper_statistical"], three[i]["w2_upper_statistical"]);
    EXPECT_EQ(one[i]["w2_lower_statistical"], three[i]["w2_lower_statistical"]);
  }
}

TEST_F(CertifyCommand, ImpossibleStatisticsAreRefused) {
  const Words start = {"certify", "net.safetensors", "--inputs", "x.csv"};
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--statistics", "1"}, "--statistics"},
      {{"--statistics", "-5"}, "--statistics"},
      {{"--statistics", "1000000000"}, "--max-memory-in-gib"},
      {{"--failure-probability", "0"}, "--failure-probability"},
      {{"--failure-probability", "1"}, "--failure-probability"}};
  for (const auto& [options, part] : cases) {
    Words words = start;
    words.insert(words.end(), options.begin(), options.end());
    expect_refusal(words, {part});
  }
}

TEST_F(CertifyCommand, JointGivesOneRowOverAllOutputs) {
  const std::string out = certify({"--joint"});
  EXPECT_CONTAINS(out, "joint");
  const auto arrays = read_npz(directory_ / "r.npz");
  expect_shapes(arrays, 1, arrays.at("weights").shape.at(1), kInputs * kOutputs);
  EXPECT_EQ(report()["results"].size(), 1U);
  EXPECT_EQ(report()["results"][0]["mean"].size(), static_cast<std::size_t>(kInputs * kOutputs));
}

TEST_F(CertifyCommand, NoCompressionKeepsAllPoints) {
  (void)certify({"--method", "signature", "--components", "0", "--signature-size", "4"});
  const json parsed = report();
  for (const json& result : parsed["results"]) {
    for (const json& layer : result["layers"]) EXPECT_EQ(layer["compression"], 0.0);
  }
  EXPECT_GT(array("weights").shape.at(1), 5);
}

TEST_F(CertifyCommand, InputsAsNpyGiveTheSameNumbers) {
  write_text(directory_ / "one.csv", "0.25,-0.5,1\n");
  write_npy(directory_ / "one.npy", Array{{1, 3}, {0.25, -0.5, 1.0}});
  (void)run_well({"certify", "net.safetensors", "--inputs", "one.csv", "--out", "a.npz"});
  (void)run_well({"certify", "net.safetensors", "--inputs", "one.npy", "--out", "b.npz"});
  EXPECT_TRUE(numbers_in(directory_ / "a.npz") == numbers_in(directory_ / "b.npz"));
}

TEST_F(CertifyCommand, CrossHasNoBoundAndSaysSo) {
  const std::string out = certify({"--method", "cross"});
  EXPECT_CONTAINS(out, "cross carries no bound");
  for (const char* name : {"w2_bound", "relative_w2_bound"}) {
    for (const double value : array(name).values) EXPECT_TRUE(std::isnan(value));
  }
  const json parsed = report();
  for (const json& result : parsed["results"]) {
    for (const char* key : {"w2_bound", "w1_bound", "relative_w2_bound"}) EXPECT_TRUE(result[key].is_null());
    for (const json& layer : result["layers"]) EXPECT_TRUE(layer["local"].is_null());
  }
}

TEST_F(CertifyCommand, WritesAPageToRead) {
  const std::string printed = certify({"--report", "r.html", "--image", "1x1x3", "--classes"});
  EXPECT_CONTAINS(printed, "wrote r.html");
  const std::string page = read_text(directory_ / "r.html");
  EXPECT_EQ(page.rfind("<!DOCTYPE html>", 0), 0U);
  EXPECT_CONTAINS(page, "Class probabilities");
  EXPECT_CONTAINS(page, "data:image/png;base64,");
  EXPECT_CONTAINS(page, "--report r.html --image 1x1x3 --classes");
}

TEST_F(CertifyCommand, EpsilonMet) {
  const std::string out = certify({"--epsilon", "0.9"});
  EXPECT_CONTAINS(out, "epsilon 0.9 met at 7 of 7 inputs");
  const json parsed = report();
  for (const json& result : parsed["results"]) {
    EXPECT_EQ(result["termination"], "epsilon-reached");
    EXPECT_LE(result["w2_bound"], 0.9);
  }
}

TEST_F(CertifyCommand, EpsilonMissedSaysWhatToRaise) {
  const std::string out = certify({"--epsilon", "0.001", "--max-components", "8"});
  EXPECT_CONTAINS(out, "epsilon 0.001 met at 0 of 7 inputs");
  EXPECT_CONTAINS(out, "--max-components");
  const json parsed = report();
  for (const json& result : parsed["results"]) {
    EXPECT_EQ(result["termination"], "budget-spent");
    EXPECT_GT(result["w2_bound"], 0.001);
    EXPECT_CONTAINS(result["reason"].get<std::string>(), "--max-components");
  }
}

TEST_F(CertifyCommand, TheSameCommandWritesTheSameBytes) {
  (void)certify({"--input-std", "0.1"});
  const std::string first = read_text(directory_ / "r.npz");
  (void)certify({"--input-std", "0.1"});
  EXPECT_TRUE(read_text(directory_ / "r.npz") == first);
}

TEST_F(CertifyCommand, AResultFileRepeatsItsRun) {
  (void)certify({"--input-std", "0.1", "--seed", "5", "--epsilon", "0.7"});
  const StoredRun stored = read_run(directory_ / "r.npz");
  const RunRecord& run = stored.require_record("the test");
  EXPECT_EQ(run.model_files, Words{"net.safetensors"});
  EXPECT_EQ(run.inputs_file, "x.csv");
  EXPECT_EQ(run.outputs, kOutputs);
  EXPECT_EQ(run.model_sha256.size(), 64U);
  Words again = {"certify", run.model_files[0], "--inputs", "r.npz", "--out", "again.npz"};
  for (const auto& [name, value] : run.options) {
    if (value.empty() || value == "false") continue;
    again.insert(again.end(), {"--" + name, value});
  }
  (void)run_well(again);
  EXPECT_TRUE(numbers_in(directory_ / "again.npz") == numbers_in(directory_ / "r.npz"));
}

TEST_F(CertifyCommand, SeedAndThreadsDoNotChangeNumbers) {
  const Words sizes = {"--signature-size", "12", "--components", "3"};
  const auto numbers = [&](const Words& more) {
    Words words = sizes;
    words.insert(words.end(), more.begin(), more.end());
    (void)certify(words);
    return numbers_in(directory_ / "r.npz");
  };
  const auto report_without_run = [&] {
    json root = report();
    for (const char* key : {"command", "options"}) root.erase(key);
    for (json& result : root["results"]) result.erase("seconds");
    return root;
  };
  const auto one = numbers({"--threads", "1"});
  const json first = report_without_run();
  for (const char* threads : {"1", "2", "4"}) {
    EXPECT_TRUE(numbers({"--threads", threads, "--seed", "0"}) == one) << threads << " threads";
    EXPECT_EQ(report_without_run(), first);
  }
}

class CertifyChoices : public CertifyCommand, public ::testing::WithParamInterface<Words> {};

TEST_P(CertifyChoices, GiveFiniteBounds) {
  (void)certify(GetParam());
  for (const double bound : array("w2_bound").values) {
    EXPECT_TRUE(std::isfinite(bound));
    EXPECT_GT(bound, 0.0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CertifyChoices,
                         ::testing::Values(Words{"--certificate", "best"}, Words{"--certificate", "metric"},
                                           Words{"--certificate", "expected"},
                                           Words{"--certificate", "paper"},
                                           Words{"--certificate", "paper", "--joint"},
                                           Words{"--grid", "uniform"}, Words{"--grid", "adaptive"},
                                           Words{"--signature-size", "1"}, Words{"--components", "1"},
                                           Words{"--seed", "18446744073709551615"}));

TEST_F(CertifyCommand, BestIsTheSmallestForOneMixture) {
  const auto bounds = [&](const char* mode) {
    (void)certify({"--components", "0", "--signature-size", "5", "--certificate", mode});
    return array("w2_bound").values;
  };
  const auto best = bounds("best");
  for (const char* mode : {"metric", "expected", "paper"}) {
    const auto other = bounds(mode);
    for (std::size_t i = 0; i < best.size(); ++i) EXPECT_LE(best[i], other[i] * (1.0 + 1e-12)) << mode;
  }
}

TEST_F(CertifyCommand, WithoutHiddenLayersTheBoundIsRoundingOnly) {
  save_network(directory_ / "net.safetensors", small_network({3, kOutputs}));
  (void)certify({});
  for (const double bound : array("w2_bound").values) EXPECT_LE(bound, 1e-12);
}

TEST_F(CertifyCommand, CertifiesTheShippedNetwork) {
  const std::string examples = MIXCERT_SOURCE_DIRECTORY "/examples/";
  (void)run_well({"certify", examples + "noisy_sines.safetensors", "--inputs",
                  examples + "noisy_sines_inputs.csv", "--out", "r.npz"});
  const Array bounds = array("w2_bound");
  EXPECT_EQ(bounds.shape, (Shape{9}));
  // The network fits sines of amplitude about one; the bound is useful on that scale.
  for (const double bound : bounds.values) EXPECT_LE(bound, 0.5);
}

}  // namespace certify_command_test
}  // namespace mixcert::test
