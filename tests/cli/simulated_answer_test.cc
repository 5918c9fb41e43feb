// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// answer --simulate: answers by draws of the network in a table of their own, for every network, and one line
// where the network cannot be drawn from.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/model_files.h"
#include "cli/program.h"
#include "mixcert/io/model_file.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert::test {
namespace simulated_answer_test {

using nlohmann::json;
using Words = std::vector<std::string>;

class SimulatedAnswer : public CommandLineTest {
 protected:
  SimulatedAnswer() {
    save_network(directory_ / "net.safetensors", small_network({3, 12, 12, 2}));
    write_inputs(directory_ / "x.csv", 3, 3);
  }
  void certify(const Words& options = {}) const {
    Words words = {"certify", "net.safetensors", "--inputs", "x.csv", "--out", "r.npz"};
    words.insert(words.end(), options.begin(), options.end());
    (void)run_well(words);
  }
  [[nodiscard]] static Words command(const Words& options = {}) {
    Words words = {"answer", "r.npz", "--simulate", "--samples", "5000", "--probability", "y0 > 0"};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }
  [[nodiscard]] json answers(const Words& options = {}) const {
    Words words = command(options);
    words.insert(words.end(), {"--json", "a.json"});
    (void)run_well(words);
    return json::parse(read_text(directory_ / "a.json"))["results"];
  }
};

TEST_F(SimulatedAnswer, StandsInATableOfItsOwn) {
  certify();
  const std::string out = run_well(command({"--classes", "--failure-probability", "1e-6"}));
  EXPECT_CONTAINS(out, "By simulation: from draws of the network itself");
  EXPECT_CONTAINS(out, "probability of y0 > 0");
  EXPECT_CONTAINS(out, "expected probability of class");
  // Who asks about classes of several inputs does not look at logits, those of the first input neither.
  EXPECT_EQ(out.find("interval of y0"), std::string::npos);
  EXPECT_CONTAINS(run_well(command()), "interval of y0");
  EXPECT_CONTAINS(out, "from 5000 draws at each input");
  EXPECT_CONTAINS(out, "those of an input fail with probability 1e-06, of all 3 inputs together with 3e-06");
  EXPECT_EQ(run_well({"answer", "r.npz", "--probability", "y0 > 0"}).find("By simulation"),
            std::string::npos);
}

TEST_F(SimulatedAnswer, HasSectionsOfItsOwnInTheReport) {
  certify();
  (void)run_well(command({"--classes", "--report", "a.html"}));
  const std::string page = read_text(directory_ / "a.html");
  for (const char* title : {"Classes, by simulation", "Probabilities, by simulation",
                            "Intervals that hold 95 % of the probability at least, by simulation"})
    EXPECT_CONTAINS(page, title);
  EXPECT_CONTAINS(page, "From 5000 draws of the network at each input");
  // Ranges by simulation never have the colour of those that are proven.
  const std::size_t section = page.find("Probabilities, by simulation</h");
  ASSERT_NE(section, std::string::npos);
  const std::string table = page.substr(section, page.find("</table>", section) - section);
  EXPECT_CONTAINS(table, "simulated");
  EXPECT_EQ(table.find("certified"), std::string::npos);
  (void)run_well({"answer", "r.npz", "--probability", "y0 > 0", "--report", "b.html"});
  EXPECT_EQ(read_text(directory_ / "b.html").find(", by simulation"), std::string::npos);
}

TEST_F(SimulatedAnswer, IsNarrowerThanTheBoundWhereThatIsLarge) {
  certify();
  for (const json& one : answers()) {
    const json& drawn = one["simulated"];
    EXPECT_EQ(drawn["draws"], 5000);
    EXPECT_EQ(drawn["failure_probability"], 1e-9);
    const auto width = [](const json& range) {
      return range["upper"].get<double>() - range["lower"].get<double>();
    };
    const json& range = drawn["probabilities"][0]["probability"];
    EXPECT_LT(width(range), width(one["probabilities"][0]["probability"]));
    EXPECT_LE(range["lower"].get<double>(), range["estimate"].get<double>());
    EXPECT_GE(range["upper"].get<double>(), range["estimate"].get<double>());
    ASSERT_EQ(drawn["credible"].size(), 2U);
    EXPECT_GT(drawn["credible"][0]["share_of_draws"].get<double>(), 0.95);
  }
}

TEST_F(SimulatedAnswer, HasTheSameNumbersForEveryNumberOfThreads) {
  certify();
  EXPECT_EQ(answers({"--threads", "1"}), answers({"--threads", "3"}));
  EXPECT_EQ(answers({"--input", "1"})[0], answers()[1]);
  EXPECT_NE(answers({"--seed", "5"}), answers());
}

TEST_F(SimulatedAnswer, CoversJointLawsEnsemblesAndDropout) {
  certify({"--joint"});
  EXPECT_EQ(answers()[0]["simulated"]["credible"].size(), 6U);
  save_network(directory_ / "other.safetensors", small_network({3, 8, 2}));
  (void)run_well({"certify", "net.safetensors", "other.safetensors", "--inputs", "x.csv", "--out", "r.npz"});
  EXPECT_EQ(answers().size(), 3U);
  const Network network = small_network({3, 12, 2});
  save_layers(directory_ / "net.safetensors",
              {DenseSpec{network.layer(0)}, ActivationSpec{Activation(ActivationFunction::Relu)},
               DropoutSpec{0.5}, DenseSpec{network.layer(1)}});
  certify();
  EXPECT_TRUE(answers()[2].contains("simulated"));
}

TEST_F(SimulatedAnswer, SaysWhereTheNetworkIsMissing) {
  certify();
  std::filesystem::rename(directory_ / "net.safetensors", directory_ / "moved.safetensors");
  expect_refusal(command(), {"net.safetensors", "no such file", "--model"});
  EXPECT_TRUE(answers({"--model", "moved.safetensors"})[0].contains("simulated"));
  save_network(directory_ / "net.safetensors", small_network({3, 5, 2}));
  expect_refusal(command(), {"net.safetensors", "SHA-256"});
  expect_refusal({"answer", "r.npz", "--model", "moved.safetensors"}, {"--model", "--simulate"});
}

TEST_F(SimulatedAnswer, RefusesMoreDrawsThanFitInMemory) {
  save_network(directory_ / "net.safetensors", small_network({3, 4, 40}));
  certify();  // whose journal has a factor of 40 rows without columns
  expect_refusal({"answer", "r.npz", "--simulate", "--samples", "20000000", "--threads", "3"},
                 {"--samples", "GiB"});
}

TEST_F(SimulatedAnswer, RefusesTheLawOfALinearisedNetwork) {
  certify({"--predictive", "glm"});
  expect_refusal(command(), {"--simulate", "linearised"});
}

}  // namespace simulated_answer_test
}  // namespace mixcert::test
