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
#include "command_flags.h"
#include "compared_rows.h"
#include "core/text_table.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"
#include "mixcert/io/result_file.h"
#include "model_flags.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

struct CompareArguments {
  ModelFlags models;
  std::string result;
  std::optional<std::string> json;
  SamplingFlags sampling{.samples = 1000};
  Options options;  ///< those of certify that a moment trace depends on
};

nlohmann::ordered_json to_json(const ComparedRow& row, double bound, double failure_probability,
                               Index index) {
  return {{"input", index},
          {"w2_bound", json_number(bound)},
          {"w2_empirical", row.empirical},
          {"w2_empirical_floor", row.floor},
          {"w2_empirical_samples", static_cast<Index>(row.empirical_samples)},
          {"w2_lower_statistical", row.lower},
          {"w2_lower_confidence", row.confidence},
          {"w2_upper_statistical", json_number(row.upper)},
          {"failure_probability", failure_probability},
          {"statistics_assumption", "asymptotic: finite fourth moments"},
          {"looseness_least", json_number(bound / row.upper)},
          {"looseness_most", json_number(bound / row.lower)},
          {"gelbrich_plug_in", row.plug_in},
          {"gelbrich_bias_removed", row.bias}};
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

std::string text_row(const ComparedRow& row, double bound, const std::string& name) {
  const double ratio = row.lower > 0.0 ? bound / row.lower : NAN;
  return compare_table().row({name, short_bound(bound), short_number(row.lower), short_number(row.upper),
                              short_number(row.empirical), short_number(row.floor), short_number(ratio)});
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
std::string footer(double confidence, bool has_upper, const std::string& gap, double failure_probability) {
  std::string text = fmt::format(
      "\nlower (stat.): Gelbrich distance of moments less its bootstrap bias{}, confidence {:.3g}, "
      "asymptotic\n",
      confidence < 0.9985 ? ", or the dual bound (C.6) where larger" : "", confidence);
  if (has_upper) {
    text += fmt::format(
        "upper (stat.): coupled simulation, fails with probability {}, asymptotic: finite fourth moments\n",
        failure_probability);
  }
  if (!gap.empty()) text += "upper (stat.): - where " + gap + "\n";
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
  // One input per thread.
  const auto at_once =
      joint ? 1 : std::min<Index>(resolve_thread_count(options.threads), static_cast<Index>(results.size()));
  arguments.sampling.check_memory(results.front().mixture.dimension() * at_once);

  Options certify_options = arguments.options;
  certify_options.statistics = options.samples;
  certify_options.seed = options.seed;
  certify_options.threads = options.threads;
  certify_options.joint = joint;
  const ComparedRows compared(ensemble, inputs, results, options, certify_options);
  if (!team().leads()) return compared.run({});

  std::optional<AtomicFile> json;
  if (arguments.json) json.emplace(*arguments.json);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::fputs(compare_table().header().c_str(), stdout);
  ProgressBar progress("compare", static_cast<Index>(results.size()));
  std::size_t uppers = 0;
  double confidence = 1.0;
  compared.run([&](Index i, const ComparedRow& row) {
    const double bound = results[static_cast<std::size_t>(i)].w2_bound;
    rows.push_back(to_json(row, bound, certify_options.failure_probability, i));
    progress.print(text_row(row, bound, joint ? "joint" : std::to_string(i)));
    progress.advance();
    uppers += std::isnan(row.upper) ? 0 : 1;
    confidence = std::min(confidence, row.confidence);
  });
  std::string gap = compared.gap();
  if (gap.empty() && uppers < results.size())
    gap = "the result is another method's, or certify was given other options; give the same here";
  std::fputs(footer(confidence, uppers > 0, gap, certify_options.failure_probability).c_str(), stdout);
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
