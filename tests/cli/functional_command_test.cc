// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// --functional: one sum of outputs in place of all of them, from certify through explain, answer, sample and
// compare, and the computed law that answers then have.
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/model_files.h"
#include "cli/program.h"
#include "io/formats/npy.h"
#include "mixcert/certify/certify.h"
#include "mixcert/io/input_file.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/result_file.h"

namespace mixcert::test {
namespace functional_command_test {

using nlohmann::json;
using Words = std::vector<std::string>;

class FunctionalCommand : public CommandLineTest {
 protected:
  FunctionalCommand() {
    save_network(directory_ / "net.safetensors", small_network({3, 6, 3}));
    write_inputs(directory_ / "x.csv", 4, 3);
  }
  [[nodiscard]] std::string certify(const Words& options = {}) const {
    Words words = {"certify", "net.safetensors", "--inputs",     "x.csv",
                   "--out",   "r.npz",           "--functional", "y0 - y2"};
    words.insert(words.end(), options.begin(), options.end());
    return run_well(words);
  }
};

TEST_F(FunctionalCommand, IsTheNetworkWithThatOneOutput) {
  const std::string out = certify({"--json", "r.json"});
  EXPECT_CONTAINS(out, "W2(y0 - y2 of the network, mixture) <=");
  Vector weights(3);
  weights << 1.0, 0.0, -1.0;
  const Network combined = combined_output(small_network({3, 6, 3}), weights);
  const std::vector<Result> expected =
      mixcert::certify(combined, read_inputs(directory_ / "x.csv"), Options{});
  const StoredRun stored = read_run(directory_ / "r.npz");
  ASSERT_EQ(stored.results.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(stored.results[i].w2_bound, expected[i].w2.value);
    ASSERT_NE(stored.results[i].distribution, nullptr);
    EXPECT_EQ(stored.results[i].distribution->values, expected[i].distribution->values);
  }
  EXPECT_EQ(stored.run->functional, "y0 - y2");
  EXPECT_EQ(stored.run->outputs, 1);
  const json report = json::parse(read_text(directory_ / "r.json"));
  EXPECT_EQ(report["functional"], "y0 - y2");
  EXPECT_EQ(report["assumptions"].back(),
            "the law is that of y0 - y2, a sum of the network's outputs, its weights rounded "
            "to double precision");
}

TEST_F(FunctionalCommand, ExplainHasTheSameBoundAndSaysHowNormalItIs) {
  (void)certify();
  const std::string out =
      run_well({"explain", "r.npz", "--input", "1", "--seconds", "0", "--json", "e.json"});
  EXPECT_CONTAINS(out, "W2(y0 - y2 of the network, mixture) <=");
  EXPECT_CONTAINS(out, "the same bound");
  EXPECT_CONTAINS(out, "how normal: ");
  const json report = json::parse(read_text(directory_ / "e.json"));
  EXPECT_LT(std::abs(report["normality"]["skewness"].get<double>()), 2.0);
  EXPECT_GE(report["normality"]["gaussian_distance_in_deviations"].get<double>(), 0.0);
}

TEST_F(FunctionalCommand, AnswersComeFromTheComputedLaw) {
  (void)certify({"--report", "r.html"});
  const std::string out = run_well({"answer", "r.npz", "--probability", "y0 > 0.1", "--json", "a.json"});
  EXPECT_CONTAINS(out, "y0 is y0 - y2 of the network's outputs");
  EXPECT_CONTAINS(out, "computed law");
  (void)run_well({"sample", "net.safetensors", "--inputs", "x.csv", "--functional", "y0 - y2", "--samples",
                  "20000", "--out", "s.npy"});
  const Array samples = read_npy(directory_ / "s.npy");
  ASSERT_EQ(samples.size(), 4 * 20000);
  const json report = json::parse(read_text(directory_ / "a.json"));
  for (std::size_t input = 0; input < 4; ++input) {
    const json& answer = report["results"][input]["probabilities"][0];
    EXPECT_EQ(answer["source"], "computed law");
    const double lower = answer["probability"]["lower"], upper = answer["probability"]["upper"];
    EXPECT_LT(upper - lower, 1e-3);
    double above = 0.0;
    for (std::size_t i = 0; i < 20000; ++i) above += samples.values[20000 * input + i] > 0.1 ? 1.0 : 0.0;
    EXPECT_NEAR(above / 20000.0, 0.5 * (lower + upper), 0.02);
  }
  EXPECT_CONTAINS(read_text(directory_ / "r.html"), "Density of the output at input");
  EXPECT_CONTAINS(run_well({"compare", "net.safetensors", "--inputs", "x.csv", "--functional", "y0 - y2",
                            "--result", "r.npz", "--samples", "500"}),
                  "certified W2");
}

/// The same law for two networks together, and the difference of what was certified from what is compared.
TEST_F(FunctionalCommand, EnsemblesJointLawsAndRefusals) {
  save_network(directory_ / "other.safetensors", small_network({3, 4, 3}));
  (void)run_well({"certify", "net.safetensors", "other.safetensors", "--inputs", "x.csv", "--out", "r.npz",
                  "--functional", "0.5*y0 + 0.5*y1"});
  EXPECT_CONTAINS(run_well({"explain", "r.npz", "--seconds", "0"}), "0.5*y0 + 0.5*y1 of the ensemble");
  (void)certify({"--joint"});
  EXPECT_EQ(read_run(directory_ / "r.npz").results.front().mixture.dimension(), 4);
  for (const char* text : {"y3", "y0 +", "y0 > 1", "y0 + 1", "0*y0", "class 1"}) {
    SCOPED_TRACE(text);
    expect_refusal(
        {"certify", "net.safetensors", "--inputs", "x.csv", "--out", "q.npz", "--functional", text},
        {"functional"});
  }
  expect_refusal({"compare", "net.safetensors", "--inputs", "x.csv", "--result", "r.npz"},
                 {"r.npz", "expected"});
}

}  // namespace functional_command_test
}  // namespace mixcert::test
