// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// certify --simulate: a third kind of number, in its own place everywhere, the same bits however it is run,
// and one line for every network that it does not cover.
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/model_files.h"
#include "cli/program.h"
#include "io/formats/npy.h"
#include "mixcert/core/error.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/result_file.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert::test {
namespace simulate_command_test {

using nlohmann::json;
using Words = std::vector<std::string>;

class SimulateCommand : public CommandLineTest {
 protected:
  SimulateCommand() {
    save_network(directory_ / "net.safetensors", small_network({3, 12, 12, 12, 2}));
    write_inputs(directory_ / "x.csv", 3, 3);
  }
  [[nodiscard]] Words command(const Words& options = {}, const std::string& draws = "4096") const {
    Words words = {"certify", "net.safetensors", "--inputs", "x.csv", "--simulate", "--draws", draws};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }
  [[nodiscard]] json results(const std::string& file) const {
    return json::parse(read_text(directory_ / file))["results"];
  }
};

TEST_F(SimulateCommand, StandsInAPlaceOfItsOwn) {
  const std::string out = run_well(
      command({"--out", "r.npz", "--json", "r.json", "--report", "r.html", "--simulation-failure", "1e-6"}));
  EXPECT_CONTAINS(out, "W2 by simulation");
  EXPECT_CONTAINS(out, "certified by simulation: W2 <= ");
  EXPECT_CONTAINS(out, "fails with probability 1e-06 at each input, 3e-06 for all 3 together");
  EXPECT_CONTAINS(out, "bits of AES-256 taken as independent and fair");
  const StoredRun stored = read_run(directory_ / "r.npz");
  const json report = json::parse(read_text(directory_ / "r.json"));
  EXPECT_CONTAINS(report["assumptions"].back().get<std::string>(), "certified by simulation");
  for (std::size_t i = 0; i < stored.results.size(); ++i) {
    const StoredResult& row = stored.results[i];
    ASSERT_TRUE(row.simulated.has_value());
    EXPECT_GT(row.simulated->w2, 0.0);
    EXPECT_LT(row.simulated->w2, row.w2_bound);  // three hidden layers: the formal bound is far above
    EXPECT_GE(row.simulated->w2, row.simulated->coupled_cost);
    EXPECT_EQ(row.simulated->failure_probability, 1e-6);
    EXPECT_EQ(row.simulated->draws, 4096);
    EXPECT_EQ(report["results"][i]["w2_bound_simulated"], row.simulated->w2);
    EXPECT_EQ(report["results"][i]["simulation_draws"], 4096);
  }
  const std::string page = read_text(directory_ / "r.html");
  EXPECT_CONTAINS(page, "W2 by simulation, on average");
  EXPECT_CONTAINS(page, "fails with probability 1e-06 at each input");
}

TEST_F(SimulateCommand, GivesEachOutputItsOwnMixture) {
  const std::string out = run_well(command({"--marginals", "--out", "r.npz", "--json", "r.json"}, "20000"));
  EXPECT_CONTAINS(out, "each output by itself, certified by simulation: W2 <= ");
  NpzReader archive(directory_ / "r.npz");
  const Array bounds = archive.read("w2_bound_marginals"), weights = archive.read("marginal_weights"),
              means = archive.read("marginal_means"), deviations = archive.read("marginal_deviations"),
              ranges = archive.read("marginal_mean_ranges");
  EXPECT_EQ(bounds.shape, (std::vector<Index>{3, 2}));
  ASSERT_EQ(weights.shape.size(), 3U);
  EXPECT_EQ(means.shape, weights.shape);
  EXPECT_EQ(deviations.shape, weights.shape);
  const json report = json::parse(read_text(directory_ / "r.json"));
  const std::vector<StoredResult> rows = read_results(directory_ / "r.npz");
  const auto parts = static_cast<std::size_t>(weights.shape[2]);
  for (std::size_t i = 0; i < 6; ++i) {
    const json& own = report["results"][i / 2]["marginals"][i % 2];
    EXPECT_EQ(own["w2_bound_simulated"], bounds.values[i]);
    double weight = 0.0, mean = 0.0;
    for (std::size_t c = i * parts; c < (i + 1) * parts; ++c) {
      weight += weights.values[c];
      mean += weights.values[c] * means.values[c];
    }
    EXPECT_NEAR(weight, 1.0, 1e-12);
    EXPECT_LT(own["mean_lower"].get<double>(), mean);
    EXPECT_EQ(own["mean_upper"], ranges.values[2 * i + 1]);
    EXPECT_NEAR(own["mean"].get<double>(), mean, 1e-9);
    // Two laws of the same output, each near the network's.
    EXPECT_NEAR(mean, rows[i / 2].mixture.mean()(static_cast<Index>(i % 2)),
                bounds.values[i] + rows[i / 2].simulated->w2);
  }
  expect_refusal({"certify", "net.safetensors", "--inputs", "x.csv", "--marginals"},
                 {"--marginals", "--simulate"});
}

/// 3-8-2 with Kronecker factors in both layers.
Network correlated_network(Index hidden_layers) {
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations = {ActivationMap()};
  std::vector<Index> widths = {3};
  for (Index k = 0; k < hidden_layers; ++k) widths.push_back(8);
  widths.push_back(2);
  for (std::size_t k = 0; k + 1 < widths.size(); ++k) {
    const Index in = widths[k], out = widths[k + 1];
    const Matrix mean = 0.5 * Matrix::NullaryExpr(out, in, [](Index i, Index j) {
                          return std::sin(static_cast<double>(1 + 3 * i + 7 * j));
                        });
    const Matrix rows = 0.3 * (Matrix::Identity(out, out) + Matrix::Ones(out, out));
    const Matrix columns = 0.3 * (Matrix::Identity(in, in) + Matrix::Ones(in, in));
    layers.emplace_back("layer" + std::to_string(k), mean, Vector::Zero(out), KroneckerWeights{rows, columns},
                        DeterministicBias{});
    if (k > 0) activations.emplace_back(Activation(ActivationFunction::Relu));
  }
  return {std::move(layers), std::move(activations)};
}

TEST_F(SimulateCommand, CoversCorrelatedWeightsBehindOneHiddenLayer) {
  save_network(directory_ / "net.safetensors", correlated_network(1));
  const std::string out = run_well(command({"--marginals", "--json", "r.json"}, "20000"));
  EXPECT_CONTAINS(out,
                  "no bound by simulation at 3 inputs: weights depend on each other: each output by itself");
  EXPECT_CONTAINS(out, "each output by itself, certified by simulation: W2 <= ");
  for (const json& row : results("r.json")) {
    EXPECT_FALSE(row.contains("w2_stein_estimate"));
    ASSERT_EQ(row["marginals"].size(), 2U);
    for (const json& own : row["marginals"])
      EXPECT_LT(own["w2_bound_simulated"].get<double>(), 0.5 * row["w2_bound"].get<double>());
  }
  (void)run_well(command({"--functional", "y0 - y1", "--json", "f.json"}, "20000"));
  for (const json& row : results("f.json")) EXPECT_EQ(row["simulation_theorem"], "F.17");
  save_network(directory_ / "net.safetensors", correlated_network(2));
  expect_refusal(command(), {"--simulate", "'layer0' are not independent of each other"});
}

TEST_F(SimulateCommand, HasNoSteinEstimateWithoutABound) {
  (void)run_well(command({"--statistics", "100", "--simulation-failure", "1e-20", "--json", "r.json"}));
  for (const json& row : results("r.json")) {
    EXPECT_TRUE(row["w2_bound_simulated"].is_null());
    EXPECT_FALSE(row.contains("w2_stein_estimate"));
  }
}

TEST_F(SimulateCommand, HasTheSameBitsForEveryNumberOfThreadsAndAfterAnotherSeedOthers) {
  const auto bounds = [&](const Words& options) {
    (void)run_well(command(options));
    std::vector<double> all;
    for (const StoredResult& row : read_results(directory_ / "r.npz")) all.push_back(row.simulated->w2);
    return all;
  };
  const auto one = bounds({"--out", "r.npz", "--threads", "1"});
  EXPECT_EQ(one, bounds({"--out", "r.npz", "--threads", "3"}));
  EXPECT_NE(one, bounds({"--out", "r.npz", "--seed", "8"}));
}

TEST_F(SimulateCommand, ExplainIsAboutTheFormalBound) {
  (void)run_well(command({"--out", "r.npz"}));
  const std::string explained = run_well({"explain", "r.npz", "--seconds", "0", "--json", "e.json"});
  // Simulation may have given the Gaussian other moments.
  const bool is_same = explained.find("the same bound") != std::string::npos;
  EXPECT_TRUE(is_same || explained.find("was fitted to draws") != std::string::npos) << explained;
  // What simulation can be expected to give is said where the bound is large, as an estimate.
  const json report = json::parse(read_text(directory_ / "e.json"));
  const bool is_large = report["relative_w2_bound"].get<double>() > 0.1;
  EXPECT_EQ(report.contains("simulation_forecast"), is_large);
  EXPECT_EQ(explained.find("certify --simulate can be expected to give") != std::string::npos, is_large);
  if (is_large) {
    EXPECT_LT(report["simulation_forecast"]["w2_estimate"].get<double>(), report["w2_bound"].get<double>());
  }
}

TEST_F(SimulateCommand, CertifiesTheLawOfOneOutput) {
  const Words law = {"certify", "net.safetensors", "--inputs",     "x.csv",     "--simulate",
                     "--draws", "200000",          "--functional", "y0 - 2*y1", "--out",
                     "r.npz",   "--json",          "r.json"};
  (void)run_well(law);
  const json report = json::parse(read_text(directory_ / "r.json"));
  const StoredRun stored = read_run(directory_ / "r.npz");
  for (std::size_t i = 0; i < stored.results.size(); ++i) {
    EXPECT_EQ(report["results"][i]["simulation_theorem"], "F.11");
    EXPECT_TRUE(report["results"][i]["simulation_coupled_cost"].is_null());
    EXPECT_EQ(stored.results[i].simulated->draws, 200000);
    EXPECT_LT(stored.results[i].simulated->w2, stored.results[i].w2_bound);
  }
  const std::string explained = run_well({"explain", "r.npz", "--input", "0", "--seconds", "0"});
  const bool is_fitted = stored.results[0].mixture.size() > 1;
  EXPECT_CONTAINS(explained, is_fitted ? "was fitted to draws" : "the same bound");
  expect_refusal({"certify", "net.safetensors", "--inputs", "x.csv", "--simulate", "--functional", "y0",
                  "--draws", "1000000000"},
                 {"--draws", "GiB", "--max-memory"});
}

TEST_F(SimulateCommand, CertifiesAMixtureThatWasFittedToTheComputedLaw) {
  save_network(directory_ / "net.safetensors", small_network({3, 12, 1}));
  (void)run_well(command({"--out", "r.npz"}, "200000"));
  for (const StoredResult& row : read_results(directory_ / "r.npz")) {
    EXPECT_GT(row.mixture.size(), 1);
    EXPECT_LE(row.simulated->w2, 0.3 * row.mixture.standard_deviation()(0));
    EXPECT_GE(row.simulated->w2, 0.0);
  }
}

TEST_F(SimulateCommand, SaysWhyThereIsNoBound) {
  const std::string out = run_well(command({"--method", "moment", "--pieces", "8"}));
  EXPECT_CONTAINS(out,
                  "no bound by simulation at 3 inputs: the mixture is not the moment method's one Gaussian");
}

TEST_F(SimulateCommand, RefusesWhatItDoesNotCover) {
  expect_refusal(command({"--joint"}), {"--simulate", "--joint"});
  expect_refusal(command({"--method", "signature"}), {"--simulate", "method signature"});
  expect_refusal({"certify", "net.safetensors", "--inputs", "x.csv", "--draws", "5000"},
                 {"--draws", "--simulate"});
  expect_refusal(command({"--simulation-failure", "1"}), {"--simulation-failure", "below 1"});
  expect_refusal({"certify", "net.safetensors", "net.safetensors", "--inputs", "x.csv", "--simulate"},
                 {"--simulate", "ensemble of 2"});
  const Network network = small_network({3, 12, 2});
  save_layers(directory_ / "net.safetensors",
              {DenseSpec{network.layer(0)}, ActivationSpec{Activation(ActivationFunction::Relu)},
               DropoutSpec{0.5}, DenseSpec{network.layer(1)}});
  expect_refusal(command({"--out", "r.npz"}), {"--simulate", "dropout"});
}

}  // namespace simulate_command_test
}  // namespace mixcert::test
