// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert tune: a Gaussian process or a mixture at inputs, and the sizes of a network, in; the weight prior
// whose network is close to it, and how close, out.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "command.h"
#include "command_flags.h"
#include "command_json.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"
#include "mixcert/statistics/prior_comparison.h"
#include "mixcert/tune/tune.h"
#include "report/pages/command_pages.h"
#include "report/terminal/text_report.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

struct TuneArguments {
  TargetFlags target;
  std::string out;
  std::optional<std::string> json;
  ReportFlags report;
  bool restart = false;
  TuneOptions options;
  PriorComparisonOptions comparison;
};

void check(const TuneArguments& arguments) {
  arguments.options.validate();
  arguments.comparison.validate();
  arguments.target.check();
  check_outputs(
      arguments.target.files(),
      {{"--out", arguments.out}, {"--json", arguments.json}, {"--report", arguments.report.report}});
}

page::Page make_page(const TuneArguments& arguments, const TuneProblem& problem, const TuneRun& run,
                     const PriorComparison& comparison) {
  page::TuneContents contents;
  contents.run.version = version();
  contents.run.command = command_line();
  contents.run.seed = arguments.options.seed;
  contents.run.architecture = page::architecture_words(Ensemble(run.network));
  contents.run.seconds = run.seconds;
  for (const auto& field : tune_option_table()) {
    contents.run.options.emplace_back(field.name, field.get(arguments.options));
  }
  contents.target = problem.description;
  contents.inputs_file = arguments.target.inputs;
  contents.prior_file = arguments.out;
  contents.inputs = problem.inputs.cols();
  contents.held_out = static_cast<Index>(run.held_out.size());
  contents.parameter_count = run.parameter_count;
  contents.seconds = run.seconds;
  contents.resumed = run.resumed;
  contents.history = run.history;
  contents.comparison = comparison;
  contents.picture =
      page::prior_picture(run.network, problem, arguments.options.seed, arguments.comparison.threads);
  return page::tune_page(contents);
}

void run_tune(TuneArguments& arguments) {
  check(arguments);
  const TuneProblem problem = arguments.target.load(parse_architecture(arguments.options.arch).back());
  std::optional<AtomicFile> json;
  if (arguments.json) json.emplace(*arguments.json);
  ReportFile page(arguments.report);
  TuneReport report(arguments.options);
  ProgressBar progress("tune", arguments.options.steps);
  TuneFiles files;
  files.out = arguments.out;
  files.restart = arguments.restart;
  files.metadata = {{"version", std::string(version())}, {"command", command_line()}};
  const TuneServices services{[&](const TuneStep& step) {
                                const std::string row = report.add(step);
                                if (!row.empty()) progress.print(row);
                                progress.advance();
                              },
                              &cancel_flag()};
  const TuneRun run = tune(problem, arguments.options, files, services);
  progress.clear();
  std::fputs(TuneReport::steps_text(run).c_str(), stdout);
  arguments.comparison.seed = arguments.options.seed;
  const PriorComparison comparison =
      compare_prior(run.network, problem.inputs_at(run.held_out), problem.target(run.held_out),
                    arguments.comparison, &cancel_flag());
  std::fputs(comparison_text(comparison, static_cast<Index>(run.held_out.size())).c_str(), stdout);
  std::printf("wrote %s\n", arguments.out.c_str());
  if (json) {
    commit_json(*json, tune_json(arguments.options, arguments.comparison, problem, run, comparison));
    std::printf("wrote %s\n", arguments.json->c_str());
  }
  if (page.wanted()) {
    page.write(make_page(arguments, problem, run, comparison));
    std::printf("wrote %s\n", arguments.report.report->c_str());
  }
}

}  // namespace

void add_tune_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tune", "the weight prior whose network is like a Gaussian process");
  auto arguments = std::make_shared<TuneArguments>();
  arguments->target.add_to(*command);
  command->add_option("--out", arguments->out, "write the prior (.safetensors)")
      ->required()
      ->type_name("FILE");
  command->add_option("--json", arguments->json, "write every step and the comparison")->type_name("FILE");
  arguments->report.add_to(*command);
  command->add_flag("--restart", arguments->restart, "begin anew where a checkpoint exists");
  add_table_options(*command, tune_option_table(), arguments->options);
  add_table_options(*command, prior_comparison_table(), arguments->comparison,
                    {"samples", "coupled-samples", "empirical-samples", "failure-probability", "threads"});
  command->footer(
      "Example:\n  mixcert tune --kernel \"rbf(lengthscale=0.5)\" --inputs x.csv --arch 1-64-64-1 --out "
      "prior.safetensors");
  command->callback([arguments] { run_tune(*arguments); });
}

}  // namespace mixcert::cli
