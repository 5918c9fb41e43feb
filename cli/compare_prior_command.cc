// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert compare-prior: how far the law of a network's outputs at inputs, all at once, is from a target law.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "command_flags.h"
#include "command_json.h"
#include "mixcert/core/version.h"
#include "mixcert/io/model_file.h"
#include "mixcert/statistics/prior_comparison.h"
#include "report/terminal/text_report.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

struct ComparePriorArguments {
  std::string model;
  TargetFlags target;
  std::optional<std::string> json;
  PriorComparisonOptions options;
};

void run_compare_prior(const ComparePriorArguments& arguments) {
  arguments.options.validate();
  arguments.target.check();
  std::vector<NamedFile> read = arguments.target.files();
  read.push_back({"MODEL", arguments.model});
  check_outputs(read, {{"--json", arguments.json}});
  const Network network = load_network(arguments.model);
  const TuneProblem problem = arguments.target.load(network.outputs());
  std::optional<AtomicFile> json;
  if (arguments.json) json.emplace(*arguments.json);
  std::vector<Index> all;
  for (Index i = 0; i < problem.inputs.cols(); ++i) all.push_back(i);
  const PriorComparison comparison =
      compare_prior(network, problem.inputs, problem.target(all), arguments.options, &cancel_flag());
  std::fputs(comparison_text(comparison, problem.inputs.cols()).c_str(), stdout);
  if (!json) return;
  commit_json(*json, {{"version", version()},
                      {"command", command_line()},
                      {"target", problem.description},
                      {"comparison", comparison_json(comparison)}});
  std::printf("wrote %s\n", arguments.json->c_str());
}

}  // namespace

void add_compare_prior_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("compare-prior", "distance between a network's prior and a target law");
  auto arguments = std::make_shared<ComparePriorArguments>();
  add_model_option(*command, arguments->model);
  arguments->target.add_to(*command);
  command->add_option("--json", arguments->json, "write the distances")->type_name("FILE");
  add_table_options(*command, prior_comparison_table(), arguments->options);
  command->footer(
      "Example:\n  mixcert compare-prior prior.safetensors --inputs x.csv --kernel \"rbf(lengthscale=0.5)\"");
  command->callback([arguments] { run_compare_prior(*arguments); });
}

}  // namespace mixcert::cli
