// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert hmc: scores of the Bayesian posterior of a network on a regression table, sampled without a
// mean-field approximation. What `mixcert train` and its scores are compared with.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "command.h"
#include "mixcert/core/error.h"
#include "run_context.h"
#include "terminal.h"
#include "train/hmc_posterior.h"
#include "train_report.h"

namespace mixcert::lab {
namespace {

struct HmcArguments {
  DataRequest request;
  TrainOptions model = default_train_options("boston", Inference::Vogn);
  HmcOptions options;
  std::optional<std::string> json;
};

/// The fields of a training that say which posterior it is.
const std::vector<std::string>& model_fields() {
  static const std::vector<std::string> names = {"arch",  "activation", "prior-precision", "prior-scaling",
                                                 "prior", "noise-std",  "threads"};
  return names;
}

void run_hmc(const HmcArguments& arguments) {
  const TrainOptions& model = arguments.model;
  require(model.noise_std.has_value(), "--noise-std: expected the deviation of the noise, got none");
  cli::check_outputs({{"--prior", model.prior.empty() ? std::nullopt : std::optional(model.prior)}},
                     {{"--json", arguments.json}});
  std::optional<AtomicFile> json;
  if (arguments.json) json.emplace(*arguments.json);
  const Dataset data = load_dataset(arguments.request);
  require(data.task == Task::Regression, "--data: expected a regression, got " + data.name);
  const std::vector<Index> sizes = model.layer_sizes(data.features(), data.outputs());
  const StackNet net{std::nullopt, DenseNet(sizes, Activation(model.activation),
                                            std::vector<double>(sizes.size() - 1, 0.0))};
  const DiagonalPrior prior = model.prior.empty()
                                  ? zero_mean_prior(net, model.prior_precision, model.prior_scaling)
                                  : prior_from_file(net.dense, model.prior);
  const Likelihood likelihood(data.task, *model.noise_std * *model.noise_std);
  const auto start = std::chrono::steady_clock::now();
  const HmcSamples samples = sample_posterior(net, prior, likelihood, data.train, arguments.options,
                                              model.threads, &cli::cancel_flag());
  TrainSummary summary;
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary.noise_std = model.noise_std;
  summary.train_samples = evaluate_networks(net, likelihood, data.train, samples.networks, model.threads);
  summary.test_samples = evaluate_networks(net, likelihood, data.test, samples.networks, model.threads);
  (void)std::fputs(hmc_text(data, samples, summary).c_str(), stdout);
  if (json)
    cli::commit_json(*json, hmc_json(data, arguments.request, model, arguments.options, samples, summary));
}

}  // namespace

void add_hmc_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("hmc", "sample the posterior of a network on a regression table");
  auto arguments = std::make_shared<HmcArguments>();
  command->add_option("--data", arguments->request.name, "name of the data set")
      ->type_name("NAME")
      ->required();
  command->add_option("--json", arguments->json, "file for options and scores")->type_name("FILE");
  cli::add_table_options(*command, train_option_table(), arguments->model, model_fields());
  cli::add_table_options(*command, hmc_option_table(), arguments->options);
  add_folder_option(*command, arguments->request, "--data-folder");
  add_request_options(*command, arguments->request);
  command->footer(
      "Example:\n  mixcert hmc --data boston --arch 13-128-128-1 --noise-std 0.2 --prior prior.safetensors");
  command->callback([arguments] { run_hmc(*arguments); });
}

}  // namespace mixcert::lab
