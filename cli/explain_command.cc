// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert explain: one result of a result file is certified again, taken apart, and tried with other options.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "command.h"
#include "command_json.h"
#include "core/text_table.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"
#include "mixcert/io/result_file.h"
#include "mixcert/simulated/simulation_service.h"
#include "mixcert/transport/mixture_transport.h"
#include "recorded_model.h"
#include "report/terminal/text_report.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

struct ExplainArguments {
  std::string result;
  std::optional<Index> input;
  std::vector<std::string> models;
  Index top = 3;
  double seconds = 10.0;
  std::optional<std::string> json;
};

/// The row to explain: the one asked for, or the one with the largest bound.
Index chosen_row(const ExplainArguments& arguments, const StoredRun& stored, const RunRecord& run) {
  const auto rows = static_cast<Index>(stored.results.size());
  require(!run.joint || !arguments.input,
          "option --input: expected none, because " + stored.file + " is one joint result");
  if (arguments.input) {
    require(*arguments.input >= 0 && *arguments.input < rows,
            fmt::format("option --input: expected a number in 0..{}, got {}", rows - 1, *arguments.input));
    return *arguments.input;
  }
  Index worst = 0;
  for (Index i = 1; i < rows; ++i) {
    const auto bound = [&](Index row) { return stored.results[static_cast<std::size_t>(row)].w2_bound; };
    if (bound(i) > bound(worst)) worst = i;
  }
  return worst;
}

std::string heading(const Explanation& explanation, const StoredRun& stored, const RunRecord& run,
                    Index row) {
  const StoredResult& own = stored.results[static_cast<std::size_t>(row)];
  const double before = own.w2_bound, now = explanation.result.w2.value;
  std::string text = fmt::format("{} of {}: W2({}, mixture) <= {} by method {}; relative {}\n",
                                 run.joint ? "joint law" : fmt::format("input {}", row), stored.file,
                                 (run.functional.empty() ? "" : run.functional + " of the ") +
                                     (explanation.members.size() == 1 ? "network" : "ensemble"),
                                 short_bound(now), to_string(explanation.result.method),
                                 short_bound(explanation.result.relative_w2));
  if (now == before) return text + "certified again from the file: the same bound\n";
  // Simulation may have put a mixture in the place of the Gaussian, whose bound this is.
  const bool is_own = own.mixture.size() == explanation.result.mixture.size() &&
                      own.mixture.mean() == explanation.result.mixture.mean();
  if (own.simulated && own.simulated->exists() && !is_own) {
    return text + fmt::format(
                      "the file's own mixture was fitted to draws; the distance between the two is part of "
                      "its bound {}\n",
                      short_bound(before));
  }
  return text + fmt::format("warning: the file has the bound {}, written by version {}; this is version {}\n",
                            format_number(before), run.version, version());
}

Services services_of_run() {
  Services services;
  services.cancel = &cancel_flag();
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  services.forecast = forecast_service(&cancel_flag());
  return services;
}

void run_explain(const ExplainArguments& arguments) {
  std::vector<NamedFile> read = {{"RESULT", arguments.result}};
  for (const std::string& model : arguments.models) read.push_back({"--model", model});
  check_outputs(read, {{"--json", arguments.json}});
  const StoredRun stored = read_run(arguments.result);
  const RunRecord& run = stored.require_record("explain");
  const Index row = chosen_row(arguments, stored, run);
  require(std::isnan(stored.results[static_cast<std::size_t>(row)].input_change),
          stored.file +
              ": explain: the bound holds in a ball or cell of inputs; certify without --radius or "
              "--box, and explain that");
  Options options = stored.options();
  options.statistics = 0;
  options.simulate = false;
  options.draws = Options{}.draws;
  options.simulation_failure = Options{}.simulation_failure;
  require(options.method != Method::Cross, stored.file + ": method cross has no bound to explain");
  const Ensemble ensemble = load_recorded(stored, arguments.models, "explain");
  const Matrix inputs = run.joint ? stored.inputs : Matrix(stored.inputs.col(row));
  std::optional<AtomicFile> json;
  if (arguments.json) json.emplace(*arguments.json);

  const Services services = services_of_run();
  const Explanation explanation = explain(ensemble, inputs, options, services);
  std::fputs(heading(explanation, stored, run, row).c_str(), stdout);
  std::fputs(normality_text(explanation.result).c_str(), stdout);
  std::fputs(contributions_text(explanation, arguments.top).c_str(), stdout);
  std::fputs(nearest_gaussian_text(explanation.result).c_str(), stdout);
  std::fflush(stdout);
  std::vector<Trial> trials;
  if (arguments.seconds > 0.0) {
    trials = run_trials(ensemble, inputs, options, candidate_options(options, explanation.result),
                        arguments.seconds, services);
  }
  std::fputs(trials_text(trials).c_str(), stdout);
  std::fputs(forecast_text(explanation).c_str(), stdout);
  if (!json) return;
  nlohmann::ordered_json report = {
      {"mixcert", version()}, {"result", arguments.result}, {"command", command_line()}};
  report["input"] = run.joint ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(row);
  report["stored_w2_bound"] = stored.results[static_cast<std::size_t>(row)].w2_bound;
  report.update(explanation_json(explanation));
  report["trials"] = trials_json(trials);
  commit_json(*json, report);
  std::printf("wrote %s\n", arguments.json->c_str());
}

/// A number of the command line within a range.
template <class T>
auto number_setter(T& field, const std::string& name, double low, double high) {
  return [&field, name, low, high](const std::string& text) {
    using Number = std::conditional_t<std::is_same_v<T, double>, double, Index>;
    const auto value = parse_number<Number>(text);
    if (!value || !(static_cast<double>(*value) >= low) || !(static_cast<double>(*value) <= high)) {
      bad_option(name, fmt::format("a number in {}..{}", low, high), text);
    }
    field = *value;
  };
}

}  // namespace

void add_explain_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("explain", "what a bound is made of, and what lowers it");
  auto arguments = std::make_shared<ExplainArguments>();
  command->add_option("RESULT", arguments->result, "result of mixcert certify (.npz)")
      ->required()
      ->type_name("");
  command
      ->add_option_function<std::string>("--input", number_setter(arguments->input, "input", 0, 1e15),
                                         "row of the result [the one with the largest bound]")
      ->type_name("I");
  command
      ->add_option("--model", arguments->models, "network file, where it moved; once for each of an ensemble")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option_function<std::string>("--top", number_setter(arguments->top, "top", 0, 1e6),
                                         "neurons listed for each source")
      ->type_name("N")
      ->default_str("3");
  command
      ->add_option_function<std::string>("--seconds", number_setter(arguments->seconds, "seconds", 0, 1e6),
                                         "time for trying other options; 0: none")
      ->type_name("X")
      ->default_str("10");
  command->add_option("--json", arguments->json, "write every amount of every neuron")->type_name("FILE");
  command->footer("Example:\n  mixcert explain r.npz --input 3");
  command->callback([arguments] { run_explain(*arguments); });
}

}  // namespace mixcert::cli
