// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// certify --box: a box of inputs in cells, in files and texts, and the answers that hold in all of it.
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/model_files.h"
#include "cli/program.h"
#include "mixcert/io/result_file.h"

namespace mixcert::test {
namespace box_command_test {

using Words = std::vector<std::string>;

class BoxCommand : public CommandLineTest {
 protected:
  BoxCommand() {
    save_network(directory_ / "line.safetensors", small_network({1, 6, 1}));
    save_network(directory_ / "net.safetensors", small_network({2, 6, 2}));
    write_inputs(directory_ / "x.csv", 2, 2);
  }

  static Words command(const std::string& model, const Words& options) {
    Words words = {"certify", model};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }
  static Words line(const Words& options) { return command("line.safetensors", options); }
  static Words net(const Words& options) { return command("net.safetensors", options); }
};

TEST_F(BoxCommand, FilesHaveTheCells) {
  const std::string text =
      run_well(line({"--box", "-1,1", "--max-cells", "50", "--out", "r.npz", "--json", "r.json"}));
  EXPECT_CONTAINS(text, "the box in 50 cells");
  EXPECT_CONTAINS(text, "these hold at every input of each cell");
  const StoredRun stored = read_run(directory_ / "r.npz");
  const auto json = nlohmann::json::parse(read_text(directory_ / "r.json"))["results"];
  ASSERT_EQ(stored.results.size(), 50U);
  double end = -1.0;
  for (std::size_t i = 0; i < 50; ++i) {
    const StoredResult& cell = stored.results[i];
    ASSERT_TRUE(cell.cell);
    EXPECT_EQ(cell.cell->lower(0), end) << "a gap";
    end = cell.cell->upper(0);
    EXPECT_LE(cell.cell->lower(0), stored.inputs(0, static_cast<Index>(i)));
    EXPECT_EQ(json[i]["cell"]["upper"][0], end);
    EXPECT_GT(cell.input_change, 0.0);
    EXPECT_EQ(stored.result(static_cast<Index>(i)).cell->upper, cell.cell->upper);
  }
  EXPECT_EQ(end, 1.0);
}

TEST_F(BoxCommand, ReadsABoxFromAFile) {
  write_text(directory_ / "box.csv", "-1,0.5\n1,0.75\n");
  (void)run_well(net({"--box", "box.csv", "--max-cells", "8", "--out", "r.npz"}));
  const StoredRun stored = read_run(directory_ / "r.npz");
  EXPECT_EQ(stored.results.size(), 8U);
  EXPECT_EQ(stored.results.front().cell->lower(1), 0.5);
  write_text(directory_ / "rows.csv", "-1,0.5\n1,0.75\n3,4\n");
  expect_refusal(net({"--box", "rows.csv"}), {"rows.csv", "two rows"});
  expect_refusal(line({"--box", "box.csv"}), {"box", "2"});
}

TEST_F(BoxCommand, AnswersHoldInAllOfIt) {
  (void)run_well(line({"--box", "-1,1", "--max-cells", "50", "--out", "r.npz"}));
  const std::string text = run_well({"answer", "r.npz", "--probability", "y0 > 0", "--json", "a.json"});
  EXPECT_CONTAINS(text, "the ranges hold at every input of each cell");
  EXPECT_CONTAINS(text, "No input of the box leaves these ranges (50 cells");
  EXPECT_CONTAINS(text, "largest P(y0 > 0)");
  EXPECT_CONTAINS(text, "x0 in [");
  const auto json = nlohmann::json::parse(read_text(directory_ / "a.json"));
  ASSERT_EQ(json["box"].size(), 3U);
  double least = 1.0;
  for (const auto& cell : json["results"])
    least = std::min<double>(least, cell["probabilities"][0]["probability"]["lower"]);
  EXPECT_EQ(json["box"][2]["least"]["lower"], least);
  EXPECT_EQ(json["box"][0]["of"], "mean of y0");
  const std::string one = run_well({"answer", "r.npz", "--input", "7"});
  EXPECT_EQ(one.find("No input of the box"), std::string::npos);
  expect_refusal({"answer", "r.npz", "--simulate"}, {"--simulate"});
  expect_refusal({"explain", "r.npz"}, {"explain", "--box"});
}

TEST_F(BoxCommand, SaysWhetherAClassIsSettledInAllOfIt) {
  (void)run_well(net({"--box", "-0.001,0.001", "--max-cells", "4", "--out", "small.npz"}));
  const std::string small = run_well({"answer", "small.npz", "--classes"});
  EXPECT_CONTAINS(small, "is settled at every input of the box");
  EXPECT_EQ(small.find("no class"), std::string::npos);
  (void)run_well(net({"--box", "-1000,1000", "--max-cells", "4", "--out", "large.npz"}));
  EXPECT_CONTAINS(run_well({"answer", "large.npz", "--classes"}), "no class is settled at every input");
}

TEST_F(BoxCommand, TheReportShowsIt) {
  (void)run_well(line({"--box", "-1,1", "--max-cells", "30", "--report", "r.html"}));
  EXPECT_CONTAINS(read_text(directory_ / "r.html"), "Its bounds hold at every input of its cell.");
  (void)run_well(line({"--box", "-0.5,1.25", "--max-cells", "1", "--report", "one.html"}));
  const std::string page = read_text(directory_ / "one.html");
  EXPECT_LT(page.find(">x from<"), page.find(">x to<"));
  EXPECT_CONTAINS(page, R"(<td data-k="-0.5">−0.5</td><td data-k="1.25">1.25</td>)");
}

TEST_F(BoxCommand, RefusesWhatDoesNotGoTogether) {
  expect_refusal(net({"--box", "-1,1", "--inputs", "x.csv"}), {"--box", "--inputs"});
  expect_refusal(net({}), {"--inputs"});
  expect_refusal(net({"--box", "1,-1"}), {"box", "lower one first"});
  expect_refusal(net({"--box", "-1,inf"}), {"box"});
  expect_refusal(net({"--box", "nothing.csv"}), {"nothing.csv"});
  expect_refusal(net({"--box", "-1,1", "--radius", "0.5"}), {"--radius"});
  expect_refusal(net({"--box", "-1,1", "--joint"}), {"--joint"});
  expect_refusal(net({"--box", "-1,1", "--out", "r.npz", "--resume"}), {"--box", "--resume"});
  expect_refusal(net({"--box", "-1,1", "--proof", "p.proof"}), {"--box", "--proof"});
  expect_refusal(net({"--inputs", "x.csv", "--max-cells", "5"}), {"--max-cells", "--box"});
}

}  // namespace box_command_test
}  // namespace mixcert::test
