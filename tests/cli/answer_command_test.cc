// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert answer: ranges that hold what samples of the network say, in text, JSON and HTML, and one line for
// every question that does not fit the result.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/model_files.h"
#include "cli/program.h"
#include "io/formats/npy.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/result_file.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert::test {
namespace answer_command_test {

using nlohmann::json;
using Words = std::vector<std::string>;

class AnswerCommand : public CommandLineTest {
 protected:
  AnswerCommand() {
    save_network(directory_ / "net.safetensors", small_network({3, 6, 3}));
    write_inputs(directory_ / "x.csv", 4, 3);
  }
  void certify(const Words& options = {}) const {
    Words words = {"certify", "net.safetensors", "--inputs", "x.csv", "--out", "r.npz"};
    words.insert(words.end(), options.begin(), options.end());
    (void)run_well(words);
  }
  [[nodiscard]] json report() const { return json::parse(read_text(directory_ / "a.json")); }
  /// Samples of the network at the inputs of the result.
  [[nodiscard]] Matrix samples(Index input) const {
    const StoredRun run = read_run(directory_ / "r.npz");
    SimulationOptions options;
    options.samples = 20000;
    return simulate(small_network({3, 6, 3}), run.inputs.col(input), input, options);
  }
  void write_text(const char* name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
  }
};

/// `value` is off by five standard errors at most.
void expect_holds(const json& range, double value, double standard_error, const std::string& what) {
  EXPECT_LE(range["lower"].get<double>(), value + 5.0 * standard_error) << what;
  EXPECT_GE(range["upper"].get<double>(), value - 5.0 * standard_error) << what;
}

TEST_F(AnswerCommand, RangesHoldWhatSamplesSay) {
  certify();
  (void)run_well({"answer", "r.npz", "--probability", "y0 > 0", "--probability", "y0 > y1 and y1 > -1",
                  "--classes", "--samples", "20000", "--json", "a.json"});
  const json root = report();
  ASSERT_EQ(root["results"].size(), 4U);
  for (Index input = 0; input < 4; ++input) {
    const Matrix y = samples(input);
    const json& answers = root["results"][static_cast<std::size_t>(input)];
    const double root_of_count = std::sqrt(static_cast<double>(y.cols()));
    const double mean = y.row(0).mean();
    const double deviation = std::sqrt((y.row(0).array() - mean).square().mean());
    expect_holds(answers["mean"][0], mean, deviation / root_of_count, "mean");
    expect_holds(answers["std"][0], deviation, deviation / root_of_count, "std");
    const double positive = (y.row(0).array() > 0.0).cast<double>().mean();
    expect_holds(answers["probabilities"][0]["probability"], positive, 0.5 / root_of_count, "y0 > 0");
    const double both =
        (y.row(0).array() > y.row(1).array() && y.row(1).array() > -1.0).cast<double>().mean();
    expect_holds(answers["probabilities"][1]["probability"], both, 0.5 / root_of_count, "y0 > y1 > -1");
    const Eigen::ArrayXXd e = y.array().exp();
    const double first_class = (e.row(0) / e.colwise().sum()).mean();
    expect_holds(answers["classes"]["probabilities"][0], first_class, 0.5 / root_of_count, "softmax");
    const json& credible = answers["credible"][0];
    const double mass = (y.row(0).array() >= credible["lower"].get<double>() &&
                         y.row(0).array() <= credible["upper"].get<double>())
                            .cast<double>()
                            .mean();
    EXPECT_GE(mass, 0.95 - 2.5 / root_of_count);
  }
}

TEST_F(AnswerCommand, TextSaysWhatIsProven) {
  certify();
  const std::string out = run_well({"answer", "r.npz", "--input", "2", "--noise-std", "0.1", "--covariance",
                                    "--probability", "class 0 beats class 1", "--samples", "1000"});
  for (const char* part : {"proven range", "standard deviation", "95 % interval", "epistemic variance",
                           "y0 y1", "class 0 beats class 1", "observation"}) {
    EXPECT_CONTAINS(out, part);
  }
  EXPECT_EQ(out.find("    3       y0"), std::string::npos) << "another input was not asked about";
}

TEST_F(AnswerCommand, ScoresOfARegression) {
  certify();
  write_text("labels.csv", "0.1,0.2,0.3\n0.1,0.2,0.3\n0,0,0\n1,1,1\n");
  const std::string out = run_well({"answer", "r.npz", "--labels", "labels.csv", "--noise-std", "0.5",
                                    "--samples", "1000", "--json", "a.json"});
  for (const char* part : {"RMSE", "NLL", "CRPS", "labels inside"}) EXPECT_CONTAINS(out, part);
  const json scores = report()["scores"];
  EXPECT_EQ(scores["points"], 4);
  for (const char* name : {"rmse", "nll", "crps"}) {
    EXPECT_LE(scores[name]["lower"].get<double>(), scores[name]["estimate"].get<double>()) << name;
    EXPECT_GE(scores[name]["upper"].get<double>(), scores[name]["estimate"].get<double>()) << name;
  }
}

TEST_F(AnswerCommand, ScoresOfClassesAndTheReport) {
  certify();
  write_text("labels.csv", "0\n1\n2\n0\n");
  const std::string out = run_well({"answer", "r.npz", "--classes", "--labels", "labels.csv", "--samples",
                                    "1000", "--report", "a.html", "--image", "1x1x3"});
  for (const char* part : {"class settled at", "accuracy", "classified correctly", "wrote a.html"})
    EXPECT_CONTAINS(out, part);
  const std::string page = read_text(directory_ / "a.html");
  EXPECT_CONTAINS(page, "Expected softmax probability");
  EXPECT_CONTAINS(page, "data:image/png");
}

TEST_F(AnswerCommand, JointLawsAndMissingBounds) {
  certify({"--joint"});
  const std::string out =
      run_well({"answer", "r.npz", "--probability", "y[0,0] > y[3,2]", "--samples", "1000"});
  EXPECT_CONTAINS(out, "y[3,2]");
  expect_refusal({"answer", "r.npz", "--input", "0"}, {"one law over all inputs"});
  expect_refusal({"answer", "r.npz", "--classes"}, {"single inputs"});
  certify({"--method", "cross"});
  EXPECT_CONTAINS(run_well({"answer", "r.npz"}), "without a bound");
}

TEST_F(AnswerCommand, RefusesWhatDoesNotFit) {
  certify();
  write_text("short.csv", "0,0,0\n");
  write_text("words.csv", "7\n0\n0\n0\n");
  expect_refusal({"answer", "r.npz", "--input", "4"}, {"expected 0..3, got 4"});
  expect_refusal({"answer", "r.npz", "--probability", "y9 > 0"}, {"character 2"});
  expect_refusal({"answer", "r.npz", "--probability", "y0 >"}, {"character 5"});
  expect_refusal({"answer", "r.npz", "--labels", "short.csv"}, {"short.csv"});
  expect_refusal({"answer", "r.npz", "--classes", "--labels", "words.csv"}, {"expected a class in 0..2"});
  expect_refusal({"answer", "r.npz", "--json", "r.npz"}, {"r.npz"});
  expect_refusal({"answer", "r.npz", "--image", "5x5"}, {"--image"});
  expect_refusal({"answer", "missing.npz"}, {"missing.npz"});
  expect_refusal({"answer", "r.npz", "--head", "softplus"}, {"head"});
}

}  // namespace answer_command_test
}  // namespace mixcert::test
