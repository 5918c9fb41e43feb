// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert gp: the Gaussian process that a data set suggests, its scores, and the inputs to tune a prior on.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "command.h"
#include "io/formats/npy.h"
#include "prior/table_process.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::lab {
namespace {

struct GpArguments {
  DataRequest request;
  TableProcessOptions options;
  std::optional<std::string> json;
  std::optional<std::string> inputs_out;
};

nlohmann::ordered_json scores_json(const GpScores& scores) {
  return {{"rmse", scores.root_mean_square_error}, {"nll", scores.negative_log_likelihood}};
}

nlohmann::ordered_json optional_json(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json process_json(const GpArguments& arguments, const Dataset& data,
                                    const TableProcess& process, double seconds) {
  nlohmann::ordered_json options;
  for (const auto& field : table_process_table()) options[field.name] = field.get(arguments.options);
  return {{"command", cli::command_line()},
          {"data", data.name},
          {"split_index", arguments.request.split_index},
          {"train_examples", data.train.size()},
          {"test_examples", data.test.size()},
          {"options", options},
          {"kernel", process.fit.process.kernel.text()},
          {"mean", process.fit.process.mean.text()},
          {"noise_variance", process.fit.noise_variance},
          {"noise_std", std::sqrt(process.fit.noise_variance)},
          {"jitter", process.jitter},
          {"subset_size", process.fit.subset_size},
          {"log_marginal_likelihood",
           {{"isotropic", optional_json(process.isotropic_likelihood)},
            {"ard", optional_json(process.ard_likelihood)}}},
          {"chosen", process.ard ? "ard" : "isotropic"},
          {"converged", process.fit.converged},
          {"target_scale", process.target_scale},
          {"standardised", {{"train", scores_json(process.train)}, {"test", scores_json(process.test)}}},
          {"data_units",
           {{"train", scores_json(process.in_data_units(process.train))},
            {"test", scores_json(process.in_data_units(process.test))}}},
          {"seconds", seconds}};
}

void print_process(const Dataset& data, const TableProcess& process) {
  const auto likelihood = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.2f}", *value) : std::string("not fitted");
  };
  const GpScores own = process.in_data_units(process.test);
  std::string text = fmt::format("kernel {}\nnoise {:.5f} (standard deviation, target standardised)\n",
                                 process.fit.process.kernel.text(), std::sqrt(process.fit.noise_variance));
  text += fmt::format("log marginal likelihood of {} examples: isotropic {}, ARD {}; taken: {}\n",
                      process.fit.subset_size, likelihood(process.isotropic_likelihood),
                      likelihood(process.ard_likelihood), process.ard ? "ARD" : "isotropic");
  if (!process.fit.converged) text += "note: the fit used up its evaluations (--most-evaluations)\n";
  if (process.jitter > 0.0) text += fmt::format("note: {:.3g} was added to the diagonal\n", process.jitter);
  text += fmt::format("train RMSE {:.5f}  NLL {:.5f}\ntest  RMSE {:.5f}  NLL {:.5f}  ({} examples)\n",
                      process.train.root_mean_square_error, process.train.negative_log_likelihood,
                      process.test.root_mean_square_error, process.test.negative_log_likelihood,
                      data.test.size());
  text += fmt::format("in the data's units: test RMSE {:.5f}, NLL {:.5f}\n", own.root_mean_square_error,
                      own.negative_log_likelihood);
  (void)std::fputs(text.c_str(), stdout);
}

void write_tuning_inputs(const std::string& path, const Dataset& data, const TableProcessOptions& options) {
  const Matrix inputs = tuning_inputs(data.train.inputs, options.copies, options.copy_noise, options.seed);
  NpyWriter writer(path, {inputs.cols(), inputs.rows()});
  writer.append(std::span(inputs.data(), static_cast<std::size_t>(inputs.size())));
  writer.finish();
  (void)std::printf("wrote %s [%lld, %lld]\n", path.c_str(), static_cast<long long>(inputs.cols()),
                    static_cast<long long>(inputs.rows()));
}

void run_gp(const GpArguments& arguments) {
  cli::check_outputs({}, {{"--json", arguments.json}, {"--inputs-out", arguments.inputs_out}});
  std::optional<AtomicFile> json;
  if (arguments.json) json.emplace(*arguments.json);
  const Dataset data = load_dataset(arguments.request);
  const auto start = std::chrono::steady_clock::now();
  const TableProcess process = fit_table_process(data, arguments.options, &cli::cancel_flag());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  print_process(data, process);
  if (arguments.inputs_out) write_tuning_inputs(*arguments.inputs_out, data, arguments.options);
  if (json) cli::commit_json(*json, process_json(arguments, data, process, seconds.count()));
}

}  // namespace

void add_gp_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("gp", "fit a Gaussian process to a regression data set");
  auto arguments = std::make_shared<GpArguments>();
  command->add_option("--data", arguments->request.name, "name of the data set")
      ->type_name("NAME")
      ->required();
  command->add_option("--json", arguments->json, "file for kernel and scores")->type_name("FILE");
  command->add_option("--inputs-out", arguments->inputs_out, "file for training inputs and noisy copies")
      ->type_name("FILE");
  cli::add_table_options(*command, table_process_table(), arguments->options);
  add_folder_option(*command, arguments->request, "--data-folder");
  add_request_options(*command, arguments->request);
  command->footer(
      "Example:\n  mixcert gp --data boston --split-index 3 --json gp.json --inputs-out inputs.npy\n"
      "Inputs and target are standardised with the training examples; NLL is that of N(mean, variance + "
      "noise).");
  command->callback([arguments] { run_gp(*arguments); });
}

}  // namespace mixcert::lab
