// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Experiments in their quick form, without any data file: what they write, what they keep, and what they say
// of rows that cannot be made.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/program.h"
#include "mixcert/core/error.h"
#include "reproduce/network_catalogue.h"
#include "reproduce/outcome_file.h"
#include "reproduce/planar_mixtures.h"
#include "reproduce/run.h"
#include "reproduce/subject.h"

namespace mixcert::lab {
namespace reproduce_test {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

class Reproduce : public test::CommandLineTest {
 protected:
  Context context() const {
    Context made;
    made.options.quick = true;
    made.options.out = directory_ / "out";
    made.options.networks = directory_ / "networks";
    made.options.data = directory_ / "no-data";
    return made;
  }
};

/// Columns of estimates of a distance have their floor behind them, under the same name or its beginning.
void expect_floors(const ResultTable& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].kind != ColumnKind::Estimate ||
        table.columns[i].name.find("empirical") == std::string::npos)
      continue;
    ASSERT_LT(i + 1, table.columns.size()) << table.name;
    EXPECT_EQ(table.columns[i + 1].kind, ColumnKind::Floor) << table.name << ": " << table.columns[i].name;
  }
}

/// Names of series that are bounds have a colour of proven numbers, those of estimates one of estimates.
void expect_honest_colours(const Drawing& drawing) {
  const auto chart = nlohmann::json::parse(drawing.chart);
  EXPECT_FALSE(chart["marks"].empty()) << drawing.name;
  const std::set<std::string> proven = {"bound", "sky", "purple"}, estimated = {"estimate", "amber", "green"};
  for (const auto& scale : chart["scales"]) {
    if (scale["name"] != "legend_colour") continue;
    for (std::size_t i = 0; i < scale["domain"].size(); ++i) {
      const std::string name = scale["domain"][i], colour = scale["range"][i]["signal"];
      const auto says = [&name](const char* word) { return name.find(word) != std::string::npos; };
      if (says("floor") || says("printed")) continue;
      const bool bound = says("formal") || says("bound");
      const bool estimate =
          says("empirical") || says("estimate") || says("bracket") || says("stat.") || says("Monte Carlo");
      EXPECT_FALSE(bound && proven.count(colour) == 0) << drawing.name << ": " << name;
      EXPECT_FALSE(estimate && estimated.count(colour) == 0) << drawing.name << ": " << name;
    }
  }
}

TEST_F(Reproduce, QuickFormOfAllWritesWhatItClaims) {
  const Context quick = context();
  const ReproduceSummary summary = reproduce(find_experiments("all"), quick);
  EXPECT_EQ(summary.ran.size(), experiments().size());
  for (const Experiment& experiment : experiments()) {
    const auto outcome = read_outcome(quick, experiment);
    ASSERT_TRUE(outcome) << experiment.name;
    EXPECT_FALSE(outcome->tables.empty()) << experiment.name;
    for (const ResultTable& table : outcome->tables) {
      EXPECT_FALSE(table.rows.empty()) << table.name;
      expect_floors(table);
      for (const ResultRow& row : table.rows)
        EXPECT_EQ(row.values.size(), table.columns.size()) << table.name;
      const std::string csv = contents(quick.options.out / (table.name + ".csv"));
      EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), table.rows.size() + 1);
    }
    for (const Drawing& drawing : outcome->drawings) {
      EXPECT_EQ(contents(quick.options.out / (drawing.name + ".vega.json")), drawing.chart);
      expect_honest_colours(drawing);
    }
    EXPECT_TRUE(fs::exists(quick.options.out / (std::string(experiment.name) + ".md")));
  }
  const std::string page = contents(quick.options.out / "index.html");
  for (const Experiment& experiment : experiments())
    EXPECT_NE(page.find(std::string(experiment.name) + ":"), std::string::npos) << experiment.name;
  EXPECT_NE(page.find("class=\"figures large\""), std::string::npos);

  // Networks on generated data are there; of the others the rows say why not.
  const auto errors = read_outcome(quick, *find_experiments("table1").front());
  ASSERT_TRUE(errors);
  const ResultTable& table = errors->tables.front();
  EXPECT_EQ(table.rows.size(), 17U);
  EXPECT_TRUE(std::holds_alternative<double>(table.rows[0].values[3]));
  EXPECT_NE(std::get<std::string>(table.rows[6].values.back()).find("not reproduced"), std::string::npos);
  EXPECT_EQ(std::get<double>(table.rows[6].values[2]), 0.05263)
      << "the paper's figure stands there all the same";
  EXPECT_LT(std::get<double>(table.rows[0].values[4]), std::get<double>(table.rows[0].values[3]));

  // What is complete is not made again.
  const ReproduceSummary again = reproduce(find_experiments("example-method"), quick);
  EXPECT_EQ(again.kept, std::vector<std::string>{"example-method"});
}

TEST_F(Reproduce, WorkedExampleHasTheNumbersOfItsConditions) {
  const Outcome outcome = example_method(context());
  const ResultTable& table = outcome.tables.front();
  EXPECT_NEAR(std::get<double>(table.rows[0].values[2]), 0.2 / (2 * 0.5 * 0.41), 1e-12);
  EXPECT_NEAR(std::get<double>(table.rows[1].values[2]), 0.530, 5e-4);  // 4 log 5 / 25 + r(5), times 0.8
  EXPECT_NEAR(std::get<double>(table.rows[4].values[2]), 0.253, 5e-4);  // sqrt(0.8 * 0.0799)
  EXPECT_NEAR(std::get<double>(table.rows[6].values[2]), 0.449, 5e-4);
}

TEST_F(Reproduce, RowsAreKeptUntilTheirKeyChanges) {
  Context quick = context();
  int computed = 0;
  const auto row = [&](const std::string& key) {
    return kept_row(quick, "row", key, [&] {
      ++computed;
      RowNumbers numbers;
      numbers.set("a", 0.1);
      numbers.set("nothing", NAN);
      return numbers;
    });
  };
  EXPECT_EQ(row("k").at("a"), 0.1);
  EXPECT_EQ(row("k").at("a"), 0.1);
  EXPECT_TRUE(std::isnan(row("k").at("nothing")));
  EXPECT_EQ(computed, 1);
  row("other");
  EXPECT_EQ(computed, 2);
  std::ofstream(quick.options.out / "rows" / "row.json") << "[1, {";
  row("other");
  EXPECT_EQ(computed, 3) << "a file that cannot be read is treated as absent";
  quick.options.restart = true;
  row("other");
  EXPECT_EQ(computed, 4);
}

TEST_F(Reproduce, StoredOutcomesOfOtherSettingsAreNotTaken) {
  Context quick = context();
  const Experiment& experiment = *find_experiments("example-method").front();
  reproduce({&experiment}, quick);
  ASSERT_TRUE(read_outcome(quick, experiment));
  Context other = quick;
  other.options.seed = 7;
  EXPECT_FALSE(read_outcome(other, experiment));
  std::ofstream(quick.options.out / "example-method.json") << "{\"settings\": 3}";
  EXPECT_FALSE(read_outcome(quick, experiment));
}

TEST_F(Reproduce, CommandsOfRowsCanBeTyped) {
  Subject subject;
  subject.model = "net.safetensors";
  subject.inputs_file = "x.npy";
  Options options;
  options.method = Method::Signature;
  options.joint = true;
  EXPECT_EQ(certify_command(subject, options),
            "mixcert certify net.safetensors --inputs x.npy --joint --method signature");
}

TEST(ResultTableText, QuotesAndMarks) {
  ResultTable table{
      "t", "T", {{"a,b", ColumnKind::Label}, {"x", ColumnKind::Paper}, {"x", ColumnKind::Certified}}, {}, {}};
  table.rows.push_back({{std::string("p|\"q\""), 0.33105, 0.123451}, {{"c d"}, "n", "s", 3}});
  EXPECT_EQ(table_csv(table),
            "\"a,b\",x (the paper's),x (proven),network,sha256,seed,commands\n"
            "\"p|\"\"q\"\"\",0.33105,0.123451,n,s,3,c d\n");
  const std::string markdown = table_markdown(table);
  EXPECT_NE(markdown.find("| p\\|\"q\" | 0.33105 | 0.1235 |"), std::string::npos) << markdown;
}

TEST(NetworkCatalogue, HasTheFifteenRowsOfTheFirstTable) {
  std::vector<double> printed;
  for (const NetworkSpec& spec : network_catalogue()) {
    if (spec.table1 && (printed.empty() || printed.back() != spec.table1->formal))
      printed.push_back(spec.table1->formal);
    EXPECT_NO_THROW(training_fields(spec.training + " " + spec.quick));
  }
  EXPECT_EQ(printed.size(), 15U);
  EXPECT_THROW(training_fields("--arch"), InvalidArgument);
  EXPECT_THROW((void)find_network("none"), InvalidArgument);
}

TEST(PlanarMixtures, SignaturesKeepWhatTheyClaim) {
  const GaussianMixture mixture = planar_mixture(3, 0);
  EXPECT_NEAR(mixture.second_moment(), 1.0, 1e-12);
  const MixtureSignature adaptive = grid_signature_of(mixture, 30, optimal_quantizer);
  const MixtureSignature uniform = grid_signature_of(mixture, 30, uniform_quantizer);
  EXPECT_LE(adaptive.law.weights.size(), 30);
  EXPECT_NEAR(adaptive.law.weights.sum(), 1.0, 1e-12);
  EXPECT_LT(adaptive.bound, uniform.bound);
  EXPECT_LT(uniform.bound, uniform.rate);
  EXPECT_NEAR(sample_distance(adaptive.law.points.replicate(1, 1),
                              {adaptive.law.points,
                               Vector::Constant(adaptive.law.weights.size(),
                                                1.0 / static_cast<double>(adaptive.law.weights.size()))},
                              0)
                  .distance,
              0.0, 1e-6);
}

TEST(DrawnIndices, AreDistinctAndDependOnTheSeed) {
  const auto a = draw_indices(50, 10, 0);
  EXPECT_EQ(std::set<Index>(a.begin(), a.end()).size(), 10U);
  EXPECT_EQ(a, draw_indices(50, 10, 0));
  EXPECT_NE(a, draw_indices(50, 10, 1));
  EXPECT_EQ(draw_indices(3, 10, 0), (std::vector<Index>{0, 1, 2}));
}

TEST_F(Reproduce, HelpFitsAScreenAndNamesEverything) {
  const std::string text = run_well({"reproduce", "--help"});
  for (const Experiment& experiment : experiments())
    EXPECT_NE(text.find(experiment.name), std::string::npos) << experiment.name;
  std::istringstream stream(text);
  int lines = 0;
  for (std::string line; std::getline(stream, line); ++lines) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_LE(lines, 24) << text;
}

TEST_F(Reproduce, WrongWordsAreOneLine) {
  expect_refusal({"reproduce", "table9"}, {"NAME", "table1", "'table9'"});
  expect_refusal({"reproduce"}, {"NAME"});
  expect_refusal({"reproduce", "all", "--seed", "-1"}, {"--seed"});
}

}  // namespace reproduce_test
}  // namespace mixcert::lab
