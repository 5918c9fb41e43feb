// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert explain: the bound of the file again, amounts that add up to it in text and JSON, and one line for
// every result that cannot be explained.
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/model_files.h"
#include "cli/program.h"
#include "io/formats/npy.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/result_file.h"

namespace mixcert::test {
namespace explain_command_test {

using nlohmann::json;
using Words = std::vector<std::string>;

class ExplainCommand : public CommandLineTest {
 protected:
  ExplainCommand() {
    save_network(directory_ / "net.safetensors", small_network({3, 6, 5, 2}));
    write_inputs(directory_ / "x.csv", 4, 3);
  }
  void certify(const Words& options, const Words& models = {"net.safetensors"}) const {
    Words words = {"certify"};
    words.insert(words.end(), models.begin(), models.end());
    words.insert(words.end(), {"--inputs", "x.csv", "--out", "r.npz"});
    words.insert(words.end(), options.begin(), options.end());
    (void)run_well(words);
  }
  [[nodiscard]] json report() const { return json::parse(read_text(directory_ / "e.json")); }
};

/// Amounts of layers and of their sources add up.
void expect_sums(const json& report) {
  double sum = report["first"].get<double>();
  for (const json& layer : report["layers"]) {
    double amounts = 0.0;
    for (const json& source : layer["sources"]) amounts += source["amount"].get<double>();
    EXPECT_NEAR(amounts, layer["amount"].get<double>(), 1e-9 * amounts);
    sum += layer["amount"].get<double>();
  }
  EXPECT_NEAR(sum, report["network_w2_bound"].get<double>(), 1e-9 * sum);
}

TEST_F(ExplainCommand, ShowsLayersNeuronsAndTrials) {
  certify({});
  const std::string out = run_well({"explain", "r.npz", "--input", "2", "--json", "e.json", "--top", "2"});
  for (const char* part :
       {"input 2 of r.npz", "the same bound", "by method moment", "where the bound comes from",
        "activations replaced by Gaussians", "neurons: ", "makes", "% of the bound",
        "what other options give here", "as certified", "--pieces 4", "--method signature", "wrote e.json"}) {
    EXPECT_CONTAINS(out, part);
  }
  const json root = report();
  EXPECT_EQ(root["input"], 2);
  EXPECT_EQ(root["w2_bound"], read_results(directory_ / "r.npz")[2].w2_bound);
  EXPECT_EQ(root["stored_w2_bound"], root["w2_bound"]);
  ASSERT_EQ(root["layers"].size(), 2U);
  // The first layer's term may be one amount (Y.20), the second one's is a sum over its neurons.
  EXPECT_EQ(root["layers"][1]["sources"][0]["source"], "activations");
  EXPECT_EQ(root["layers"][1]["sources"][0]["neurons"].size(), 5U);
  EXPECT_EQ(root["trials"][0]["w2_bound"], root["w2_bound"]);
  expect_sums(root);
}

/// Runs from before the option --theorems: method moment had those of the coupling alone.
TEST_F(ExplainCommand, OlderRunsMeanTheCoupling) {
  certify({"--method", "moment", "--theorems", "coupling"});
  auto arrays = read_npz(directory_ / "r.npz");
  Array& run = arrays.at("run");  // bytes of JSON
  json record = json::parse(std::string(run.values.begin(), run.values.end()));
  ASSERT_EQ(record["options"].erase("theorems"), 1U);
  const std::string text = record.dump();
  run = {{static_cast<Index>(text.size())}, std::vector<double>(text.begin(), text.end())};
  write_npz(directory_ / "r.npz", arrays);
  EXPECT_CONTAINS(run_well({"explain", "r.npz", "--seconds", "0"}), "the same bound");
}

TEST_F(ExplainCommand, TheLargestBoundIsTheDefault) {
  certify({"--method", "signature", "--input-std", "0.1"});
  const std::string out = run_well({"explain", "r.npz", "--seconds", "0", "--json", "e.json"});
  EXPECT_CONTAINS(out, "directions without grid points");
  EXPECT_CONTAINS(out, "the same bound");
  EXPECT_EQ(out.find("tried just now"), std::string::npos);
  const json root = report();
  for (const StoredResult& row : read_results(directory_ / "r.npz"))
    EXPECT_LE(row.w2_bound, root["w2_bound"]);
  EXPECT_TRUE(root["layers"][0].contains("left_out"));
  EXPECT_TRUE(root["trials"].empty());
  expect_sums(root);
}

TEST_F(ExplainCommand, ExplainsJointLawsAndEnsembles) {
  certify({"--joint"});
  EXPECT_CONTAINS(run_well({"explain", "r.npz", "--seconds", "0"}), "joint law of r.npz");
  expect_refusal({"explain", "r.npz", "--input", "0"}, {"--input", "joint"});
  save_network(directory_ / "other.safetensors", small_network({3, 4, 2}));
  certify({"--member-weights", "0.25,0.75"}, {"net.safetensors", "other.safetensors"});
  std::filesystem::rename(directory_ / "other.safetensors", directory_ / "moved.safetensors");
  expect_refusal({"explain", "r.npz"}, {"other.safetensors", "--model"});
  const std::string out = run_well({"explain", "r.npz", "--model", "net.safetensors", "--model",
                                    "moved.safetensors", "--seconds", "0", "--json", "e.json"});
  EXPECT_CONTAINS(out, "ensemble of 2 networks");
  EXPECT_CONTAINS(out, "the same bound");
  expect_sums(report());
}

TEST_F(ExplainCommand, SaysWhatItCannotExplain) {
  certify({});
  expect_refusal({"explain", "r.npz", "--input", "4"}, {"--input", "0..3", "4"});
  expect_refusal({"explain", "r.npz", "--input", "x"}, {"--input", "x"});
  expect_refusal({"explain", "r.npz", "--seconds", "nan"}, {"--seconds"});
  expect_refusal({"explain", "no.npz"}, {"no.npz"});
  expect_refusal({"explain", "x.csv"}, {"x.csv"});
  expect_refusal({"explain", "r.npz", "--json", "r.npz"}, {"--json", "r.npz"});
  expect_refusal({"explain", "r.npz", "--model", "net.safetensors", "--model", "net.safetensors"},
                 {"--model", "1 file"});
  save_network(directory_ / "net.safetensors", small_network({3, 6, 4, 2}));
  expect_refusal({"explain", "r.npz"}, {"net.safetensors", "SHA-256"});
  std::filesystem::remove(directory_ / "net.safetensors");
  expect_refusal({"explain", "r.npz"}, {"net.safetensors", "--model"});
}

TEST_F(ExplainCommand, FilesWithoutRecordOrBoundAreRefused) {
  certify({"--method", "cross"});
  expect_refusal({"explain", "r.npz"}, {"r.npz", "cross"});
  certify({});
  auto arrays = read_npz(directory_ / "r.npz");
  const Array run = arrays.at("run");
  arrays.erase("run");
  write_npz(directory_ / "old.npz", arrays);
  expect_refusal({"explain", "old.npz"}, {"old.npz", "'run'", "explain"});
  arrays["run"] = run;
  arrays.erase("inputs");
  write_npz(directory_ / "old.npz", arrays);
  expect_refusal({"explain", "old.npz"}, {"old.npz", "'inputs'"});
  const std::string text = R"({"options":{"colour":"red"}})";
  arrays = read_npz(directory_ / "r.npz");
  arrays["run"] = {{static_cast<Index>(text.size())}, {text.begin(), text.end()}};
  write_npz(directory_ / "other.npz", arrays);
  expect_refusal({"explain", "other.npz"}, {"other.npz", "--colour"});
}

}  // namespace explain_command_test
}  // namespace mixcert::test
