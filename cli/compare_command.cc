// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert compare: a result file against Monte Carlo samples of the network. Estimates are
// printed beside the bound, each under its own name.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "command.h"
#include "coupled_upper.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"
#include "mixcert/io/result_file.h"
#include "mixcert/simulate/comparison.h"
#include "mixcert/simulate/simulate.h"
#include "model_flags.h"
#include "report/text_table.h"
#include "run_context.h"
#include "sampling_flags.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

// In more than one dimension the empirical distance is a transport problem whose cost grows
// with the cube of the samples: 1e4 take 20 s.
constexpr Index kMaxTransportSamples = 2000;

struct CompareArguments {
  ModelFlags models;
  std::string result;
  std::optional<std::string> json;
  SamplingFlags sampling{.samples = 1000};
  Options options;  ///< those of certify that a moment trace depends on
};

struct Row {
  StoredResult stored;
  EmpiricalDistance empirical;
  Index empirical_samples = 0;
  GelbrichLowerBound lower;
  double upper = NAN;
  double failure_probability = 0.0;
};

Row compare_one(const StoredResult& stored, const Matrix& samples, std::uint64_t seed, Index index) {
  const auto stream = static_cast<std::uint64_t>(index);
  Row row;
  row.stored = stored;
  row.empirical_samples =
      samples.rows() == 1 ? samples.cols() : std::min(samples.cols(), kMaxTransportSamples);
  row.empirical = empirical_distance(samples.leftCols(row.empirical_samples), stored.mixture, seed, stream);
  row.lower = gelbrich_lower_bound(samples, stored.mixture, seed, stream);
  return row;
}

nlohmann::ordered_json to_json(const Row& row, Index index) {
  return {{"input", index},
          {"w2_bound", json_number(row.stored.w2_bound)},
          {"w2_empirical", row.empirical.distance},
          {"w2_empirical_floor", row.empirical.floor},
          {"w2_empirical_samples", row.empirical_samples},
          {"w2_lower_statistical", row.lower.lower},
          {"w2_lower_confidence", row.lower.confidence},
          {"w2_upper_statistical", json_number(row.upper)},
          {"failure_probability", row.failure_probability},
          {"statistics_assumption", "asymptotic: finite fourth moments"},
          {"looseness_least", json_number(row.stored.w2_bound / row.upper)},
          {"looseness_most", json_number(row.stored.w2_bound / row.lower.lower)},
          {"gelbrich_plug_in", row.lower.plug_in},
          {"gelbrich_bias_removed", row.lower.bias}};
}

const TextTable& compare_table() {
  static const TextTable table({{"input", 5},
                                {"certified W2", 12},
                                {"lower (stat.)", 13},
                                {"upper (stat.)", 13},
                                {"empirical W2", 12},
                                {"its floor", 9},
                                {"bound/lower", 11}});
  return table;
}

std::string text_row(const Row& row, const std::string& name) {
  const double ratio = row.lower.lower > 0.0 ? row.stored.w2_bound / row.lower.lower : NAN;
  return compare_table().row({name, short_bound(row.stored.w2_bound), short_number(row.lower.lower),
                              short_number(row.upper), short_number(row.empirical.distance),
                              short_number(row.empirical.floor), short_number(ratio)});
}

/// One row for the joint law, or one per input.
bool is_joint(const std::vector<StoredResult>& results, Index outputs, const Matrix& inputs,
              const std::string& file) {
  const auto rows = static_cast<Index>(results.size());
  const Index dimension = results.front().mixture.dimension();
  if (rows == 1 && dimension == outputs * inputs.cols()) return inputs.cols() > 1;
  if (rows == inputs.cols() && dimension == outputs) return false;
  throw FileError(fmt::format("{}: expected {} rows of {} outputs, or one joint row of {}, got {} rows of {}",
                              file, inputs.cols(), outputs, outputs * inputs.cols(), rows, dimension));
}

/// What the columns are, and why the upper estimate may be absent.
std::string footer(const CoupledUpper& upper, double failure_probability) {
  std::string text =
      "\nlower (stat.): Gelbrich distance of moments less its bootstrap bias, confidence 0.999, asymptotic\n";
  if (upper.found > 0) {
    text += fmt::format(
        "upper (stat.): coupled simulation, fails with probability {}, asymptotic: finite fourth moments\n",
        failure_probability);
  }
  if (!upper.gap.empty()) text += "upper (stat.): - where " + upper.gap + "\n";
  return text +
         "empirical W2: biased upward; its floor is the same estimate between two samples of the mixture\n";
}

void run_compare(const CompareArguments& arguments) {
  std::vector<NamedFile> files = arguments.models.files();
  files.push_back({"--result", arguments.result});
  check_outputs(files, {{"--json", arguments.json}});
  const Subject subject = load_subject(arguments.models);
  const Ensemble& ensemble = subject.ensemble;
  const Matrix& inputs = subject.inputs;
  const std::vector<StoredResult> results = read_results(arguments.result);
  const bool joint = is_joint(results, ensemble.outputs(), inputs, arguments.result);
  if (joint) subject.refuse_joint_noise();
  const SimulationOptions options = arguments.sampling.to_options();
  arguments.sampling.check_memory(results.front().mixture.dimension());

  std::optional<AtomicFile> json;
  if (arguments.json) json.emplace(*arguments.json);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Options certify_options = arguments.options;
  certify_options.statistics = options.samples;
  certify_options.seed = options.seed;
  certify_options.threads = options.threads;
  certify_options.joint = joint;
  const CoupledUpper upper = coupled_upper(ensemble, inputs, results, certify_options);
  std::fputs(compare_table().header().c_str(), stdout);
  ProgressBar progress("compare", static_cast<Index>(results.size()));
  for (Index i = 0; i < static_cast<Index>(results.size()); ++i) {
    const Matrix samples =
        joint ? simulate_joint(ensemble, inputs, options) : simulate(ensemble, inputs.col(i), i, options);
    Row row = compare_one(results[static_cast<std::size_t>(i)], samples, options.seed, i);
    row.upper = upper.values[static_cast<std::size_t>(i)];
    row.failure_probability = certify_options.failure_probability;
    rows.push_back(to_json(row, i));
    progress.print(text_row(row, joint ? "joint" : std::to_string(i)));
    progress.advance();
  }
  std::fputs(footer(upper, certify_options.failure_probability).c_str(), stdout);
  if (!json) return;
  nlohmann::ordered_json report = {{"mixcert", version()}};
  arguments.models.record_in(report);
  report.update({{"result", arguments.result},
                 {"samples", options.samples},
                 {"seed", options.seed},
                 {"command", command_line()},
                 {"results", rows}});
  commit_json(*json, report);
  std::printf("wrote %s\n", arguments.json->c_str());
}

}  // namespace

void add_compare_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("compare", "a result against Monte Carlo samples of the network");
  auto arguments = std::make_shared<CompareArguments>();
  arguments->models.add_to(*command);
  command->add_option("--result", arguments->result, "result of mixcert certify (.npz)")
      ->required()
      ->type_name("FILE");
  command->add_option("--json", arguments->json, "write all estimates")->type_name("FILE");
  arguments->sampling.add_to(*command, {"samples", "seed", "threads"});
  add_table_options(
      *command, option_table(), arguments->options,
      {"failure-probability", "sensitivity", "pieces", "components", "epsilon", "max-components"});
  command->footer("Example:\n  mixcert compare net.safetensors --inputs x.csv --result r.npz --samples 1000");
  command->callback([arguments] { run_compare(*arguments); });
}

}  // namespace mixcert::cli
