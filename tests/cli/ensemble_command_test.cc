// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Several model files, their weights, and noise on the inputs, in certify, sample and compare; what is
// refused.
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/model_files.h"
#include "cli/program.h"
#include "io/formats/npy.h"
#include "mixcert/io/model_file.h"

namespace mixcert::test {
namespace ensemble_command_test {

using nlohmann::json;
using Words = std::vector<std::string>;
using Arrays = std::map<std::string, Array>;

/// y = slope x1 + offset exactly, of two inputs.
Network line(double slope, double offset) {
  Matrix weights(1, 2);
  weights << slope, 0.0;
  return {
      {DenseLayer("0", weights, Vector::Constant(1, offset), DeterministicWeights{}, DeterministicBias{})},
      {Activation()}};
}

class EnsembleCommand : public CommandLineTest {
 protected:
  EnsembleCommand() {
    save_network(directory_ / "a.safetensors", small_network({2, 4, 1}));
    save_network(directory_ / "b.safetensors", small_network({2, 6, 5, 1}));
    save_network(directory_ / "wide.safetensors", small_network({3, 4, 1}));
    save_network(directory_ / "up.safetensors", line(1.0, 10.0));
    save_network(directory_ / "down.safetensors", line(-1.0, -10.0));
    write_inputs(directory_ / "x.csv", 3, 2);
    write_text(directory_ / "old.npz", "old");
  }

  [[nodiscard]] json certify(Words words) const {
    words.insert(words.begin(), "certify");
    words.insert(words.end(), {"--json", "r.json", "--out", "r.npz"});
    (void)run_well(words);
    return json::parse(read_text(directory_ / "r.json"));
  }
  void write_archive(Arrays arrays) const {
    arrays.emplace("inputs", Array{{2, 2}, {0.5, -0.5, 0.25, 1.0}});
    write_npz(directory_ / "x.npz", arrays);
  }
};

TEST_F(EnsembleCommand, OneFileIsWhatItWas) {
  const json root = certify({"a.safetensors", "--inputs", "x.csv"});
  EXPECT_EQ(root["model_sha256"].get<std::string>().size(), 64U);
  EXPECT_FALSE(root.contains("members"));
  const json same =
      certify({"a.safetensors", "--inputs", "x.csv", "--member-weights", "1", "--input-std", "0"});
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(same["results"][i]["w2_bound"], root["results"][i]["w2_bound"]);
}

TEST_F(EnsembleCommand, SeveralFilesGiveOneMixtureWithOneBound) {
  const json a = certify({"a.safetensors", "--inputs", "x.csv"});
  const json b = certify({"b.safetensors", "--inputs", "x.csv"});
  const std::string out = run_well({"certify", "a.safetensors", "b.safetensors", "--inputs", "x.csv",
                                    "--member-weights", "0.25,0.75", "--json", "r.json"});
  EXPECT_CONTAINS(out, "ensemble of 2 networks; 3 inputs");
  EXPECT_CONTAINS(out, "W2(ensemble, mixture) <=");
  const json both = json::parse(read_text(directory_ / "r.json"));
  EXPECT_FALSE(both.contains("model_sha256"));
  ASSERT_EQ(both["members"].size(), 2U);
  EXPECT_EQ(both["members"][0]["sha256"], a["model_sha256"]);
  EXPECT_EQ(both["members"][1]["weight"], 0.75);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto of = [&](const json& root, const char* key) { return root["results"][i][key].get<double>(); };
    const double rms =
        std::sqrt(0.25 * std::pow(of(a, "w2_bound"), 2) + 0.75 * std::pow(of(b, "w2_bound"), 2));
    EXPECT_NEAR(of(both, "w2_bound"), rms, 1e-5 * rms);
    EXPECT_EQ(of(both, "components"), of(a, "components") + of(b, "components"));
    EXPECT_NEAR(
        both["results"][i]["mean"][0].get<double>(),
        0.25 * a["results"][i]["mean"][0].get<double>() + 0.75 * b["results"][i]["mean"][0].get<double>(),
        1e-12);
  }
}

TEST_F(EnsembleCommand, SamplesAndComparisonsAreOfTheEnsemble) {
  EXPECT_EQ(run_well({"sample", "up.safetensors", "down.safetensors", "--inputs", "x.csv", "--member-weights",
                      "0.9,0.1", "--samples", "2000", "--out", "s.npy"}),
            "wrote s.npy [3, 2000, 1]\n");
  const Array samples = read_npy(directory_ / "s.npy");
  int positive = 0;
  for (const double value : samples.values) positive += value > 0.0 ? 1 : 0;
  EXPECT_NEAR(positive / 6000.0, 0.9, 5.0 * std::sqrt(0.09 / 6000.0));

  (void)certify(
      {"a.safetensors", "b.safetensors", "--inputs", "x.csv", "--method", "moment", "--components", "1"});
  (void)run_well({"compare", "a.safetensors", "b.safetensors", "--inputs", "x.csv", "--result", "r.npz",
                  "--components", "1", "--samples", "400", "--json", "c.json"});
  const json root = json::parse(read_text(directory_ / "c.json"));
  EXPECT_EQ(root["members"].size(), 2U);
  for (const json& result : root["results"]) {
    EXPECT_LE(result["w2_lower_statistical"], result["w2_bound"]);
    EXPECT_LE(result["w2_lower_statistical"], result["w2_upper_statistical"]);
  }
}

TEST_F(EnsembleCommand, StatisticsOfAnEnsemble) {
  const json root = certify({"a.safetensors", "b.safetensors", "--inputs", "x.csv", "--method", "moment",
                             "--components", "1", "--statistics", "500", "--threads", "2"});
  for (const json& result : root["results"]) {
    EXPECT_LE(result["w2_lower_statistical"], result["w2_upper_statistical"]);
    EXPECT_LE(result["w2_coupled_cost"], result["w2_bound"]);
  }
}

/// y = x1 + 10 with noise of deviation 0.3: exactly N(x1 + 10, 0.09).
TEST_F(EnsembleCommand, NoiseOnEveryFeature) {
  const json root = certify({"up.safetensors", "--inputs", "x.csv", "--input-std", "0.3"});
  for (const json& result : root["results"]) {
    EXPECT_NEAR(result["std"][0].get<double>(), 0.3, 1e-9);
    EXPECT_LE(result["w2_bound"].get<double>(), 1e-6);
  }
  (void)run_well({"sample", "up.safetensors", "--inputs", "x.csv", "--input-std", "0.3", "--samples", "4000",
                  "--out", "s.npy"});
  const Array samples = read_npy(directory_ / "s.npy");
  double square = 0.0;
  for (std::size_t i = 0; i < 4000; ++i) square += std::pow(samples.values[i] - 10.0, 2);
  EXPECT_NEAR(square / 4000.0, 0.09, 5.0 * 0.09 * std::sqrt(2.0 / 4000.0));
}

TEST_F(EnsembleCommand, LawsOfTheNoiseInTheArchive) {
  write_archive({});
  EXPECT_NEAR(certify({"up.safetensors", "--inputs", "x.npz"})["results"][1]["mean"][0].get<double>(), 10.25,
              1e-9);
  const auto deviation = [&](const Arrays& law) {
    write_archive(law);
    return certify({"up.safetensors", "--inputs", "x.npz"})["results"][0]["std"][0].get<double>();
  };
  EXPECT_NEAR(deviation({{"labels", Array{{1}, {7.0}}}}), 0.0, 1e-9);
  EXPECT_NEAR(deviation({{"input_variance", Array{{2}, {0.25, 4.0}}}}), 0.5, 1e-9);
  EXPECT_NEAR(deviation({{"input_covariance", Array{{2, 2}, {0.36, 0.1, 0.1, 1.0}}}}), 0.6, 1e-9);
  // Components N(-1, 0.25) and N(1, 0.25) of equal weight: variance 1.25.
  const Arrays mixture = {{"input_weights", Array{{2}, {0.5, 0.5}}},
                          {"input_offsets", Array{{2, 2}, {-1.0, 0.0, 1.0, 0.0}}}};
  Arrays diagonal = mixture;
  diagonal["input_variances"] = Array{{2, 2}, {0.25, 1.0, 0.25, 1.0}};
  EXPECT_NEAR(deviation(diagonal), std::sqrt(1.25), 1e-9);
  Arrays dense = mixture;
  dense["input_covariances"] = Array{{2, 2, 2}, {0.25, 0.0, 0.0, 1.0, 0.25, 0.1, 0.1, 1.0}};
  EXPECT_NEAR(deviation(dense), std::sqrt(1.25), 1e-9);
}

TEST_F(EnsembleCommand, BadEnsemblesAreRefused) {
  const auto refused = [&](const Words& more, const Words& parts) {
    Words words = {"certify", "a.safetensors"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--inputs", "x.csv", "--out", "old.npz"});
    expect_refusal(words, parts);
  };
  refused({"wide.safetensors"},
          {"wide.safetensors", "2 inputs and 1 outputs", "a.safetensors", "got 3 and 1"});
  refused({"missing.safetensors"}, {"missing.safetensors"});
  for (const char* weights :
       {"0.5", "0.5,0.6", "1.5,-0.5", "0,1", "0.5,0.5,0", "x,y", "0.5,,0.5", "", "nan,1", "0.5;0.5"}) {
    refused({"b.safetensors", "--member-weights", weights}, {"--member-weights"});
  }
  refused({"--member-weights", "0.9"}, {"--member-weights", "1 positive number"});
  for (const char* deviation : {"-1", "nan", "inf", "1e200", "x"})
    refused({"--input-std", deviation}, {"--input-std"});
  refused({"--input-std", "0.1", "--joint"}, {"--joint", "noise"});
  expect_refusal(
      {"sample", "a.safetensors", "--inputs", "x.csv", "--joint", "--input-std", "1", "--out", "old.npz"},
      {"--joint", "noise"});
  expect_refusal({"certify", "wide.safetensors", "--inputs", "x.csv", "--input-std", "1"},
                 {"wide.safetensors", "2", "3"});
  refused({"b.safetensors", "--json", "b.safetensors"}, {"--json", "MODEL"});
}

struct BadArchive {
  const char* name;
  Arrays arrays;
  Words parts;
};

void PrintTo(const BadArchive& bad, std::ostream* stream) { *stream << bad.name; }

class BadInputLaw : public EnsembleCommand, public ::testing::WithParamInterface<BadArchive> {};

TEST_P(BadInputLaw, IsRefused) {
  write_archive(GetParam().arrays);
  Words parts = GetParam().parts;
  expect_refusal({"certify", "a.safetensors", "--inputs", "x.npz", "--out", "old.npz"}, parts);
  expect_refusal({"sample", "a.safetensors", "--inputs", "x.npz", "--out", "old.npz"}, parts);
}

const Array kOne{{1}, {1.0}};
const Array kVariance{{2}, {1.0, 1.0}};
const Array kRow{{1, 2}, {1.0, 1.0}};
const Array kSquare{{2, 2}, {1.0, 0.0, 0.0, 1.0}};

INSTANTIATE_TEST_SUITE_P(
    Archives, BadInputLaw,
    ::testing::Values(
        BadArchive{"Typo", {{"input_varianse", kVariance}}, {"x.npz", "input_varianse", "input_variance"}},
        BadArchive{
            "TwoLaws", {{"input_variance", kVariance}, {"input_covariance", kSquare}}, {"x.npz", "several"}},
        BadArchive{"LawAndMixture",
                   {{"input_variance", kVariance},
                    {"input_weights", kOne},
                    {"input_offsets", kRow},
                    {"input_variances", kRow}},
                   {"x.npz", "several"}},
        BadArchive{"HalfAMixture", {{"input_weights", kOne}}, {"x.npz", "input_offsets"}},
        BadArchive{"TwoSpreads",
                   {{"input_weights", kOne},
                    {"input_offsets", kRow},
                    {"input_variances", kRow},
                    {"input_covariances", Array{{1, 2, 2}, kSquare.values}}},
                   {"x.npz", "one of input_variances and input_covariances"}},
        BadArchive{"WrongLength", {{"input_variance", kOne}}, {"input_variance", "[2]", "[1]"}},
        BadArchive{"WrongRank", {{"input_variance", kRow}}, {"input_variance", "[2]", "[1, 2]"}},
        BadArchive{"Negative", {{"input_variance", Array{{2}, {1.0, -0.5}}}}, {"input_variance", "-0.5"}},
        BadArchive{"NotFinite", {{"input_variance", Array{{2}, {1.0, NAN}}}}, {"input_variance", "finite"}},
        BadArchive{"Skew",
                   {{"input_covariance", Array{{2, 2}, {1.0, 0.5, 0.0, 1.0}}}},
                   {"input_covariance", "symmetric"}},
        BadArchive{"Indefinite",
                   {{"input_covariance", Array{{2, 2}, {1.0, 2.0, 2.0, 1.0}}}},
                   {"input noise", "semidefinite"}},
        BadArchive{"WeightsDoNotSumToOne",
                   {{"input_weights", Array{{1}, {0.5}}}, {"input_offsets", kRow}, {"input_variances", kRow}},
                   {"input_weights", "0.5"}},
        BadArchive{"OffsetsOfAnotherNumber",
                   {{"input_weights", kOne}, {"input_offsets", kSquare}, {"input_variances", kRow}},
                   {"input_offsets", "[1, 2]", "[2, 2]"}}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_F(EnsembleCommand, ArchivesWithoutInputsOrWithTwoLawsAreRefused) {
  write_npz(directory_ / "x.npz", {{"labels", kOne}});
  expect_refusal({"certify", "a.safetensors", "--inputs", "x.npz"}, {"x.npz", "inputs", "none"});
  write_archive({{"input_variance", kVariance}});
  expect_refusal({"certify", "a.safetensors", "--inputs", "x.npz", "--input-std", "0.5"},
                 {"--input-std", "x.npz"});
  expect_refusal({"certify", "a.safetensors", "--inputs", "x.npz", "--joint"}, {"--joint", "noise"});
  write_archive({{"inputs", Array{{2, 3}, std::vector<double>(6, 0.0)}}});
  expect_refusal({"certify", "a.safetensors", "--inputs", "x.npz"}, {"x.npz", "2 features", "got 3"});
  write_text(directory_ / "x.npz", "no archive");
  expect_refusal({"certify", "a.safetensors", "--inputs", "x.npz"}, {"x.npz"});
}

}  // namespace ensemble_command_test
}  // namespace mixcert::test
