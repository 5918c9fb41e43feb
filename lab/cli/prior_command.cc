// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert critic-prior and mixcert isotropic-prior: the priors that a tuned one is compared with, as model
// files.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "command.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"
#include "mixcert/io/model_file.h"
#include "mixcert/tune/tune_options.h"
#include "prior/critic_prior.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::lab {
namespace {

struct CriticArguments {
  CriticPriorOptions options;
  std::string out;
  std::optional<std::string> json;
};

nlohmann::ordered_json to_json(const CriticPriorStep& step) {
  return {{"step", step.step},
          {"w1_critic", step.distance},
          {"critic_first_loss", step.first_loss},
          {"critic_halfway_loss", step.halfway_loss},
          {"critic_final_loss", step.final_loss},
          {"critic_gradient_norm", step.gradient_norm},
          {"critic_steps", step.critic_steps},
          {"seconds", step.seconds}};
}

nlohmann::ordered_json report_of(const CriticArguments& arguments, const CriticPriorResult& result) {
  nlohmann::ordered_json options;
  for (const auto& field : critic_prior_table()) options[field.name] = field.get(arguments.options);
  nlohmann::ordered_json history = nlohmann::ordered_json::array();
  for (const CriticPriorStep& step : result.history) history.push_back(to_json(step));
  return {{"mixcert", version()},
          {"command", cli::command_line()},
          {"options", options},
          {"seconds", result.seconds},
          {"seconds_per_step", result.seconds / static_cast<double>(result.history.size())},
          {"history", history}};
}

/// How much of the critic's gain the second half of its steps brought, over the last tenth of the run: none
/// where it had converged.
std::string convergence_line(const std::vector<CriticPriorStep>& history) {
  const std::size_t tail = std::max<std::size_t>(1, history.size() / 10);
  double gain = 0.0;
  double late = 0.0;
  for (std::size_t i = history.size() - tail; i < history.size(); ++i) {
    const CriticPriorStep& step = history[i];
    gain += step.first_loss - step.final_loss;
    late += step.halfway_loss - step.final_loss;
  }
  return fmt::format(
      "critic, last {} steps of the prior: loss falls by {:.4g} on average, {:.2f} % of it in "
      "the second half of its steps\n",
      tail, gain / static_cast<double>(tail), gain > 0.0 ? 100.0 * late / gain : NAN);
}

void run_critic_prior(const CriticArguments& arguments) {
  cli::check_outputs({}, {{"--out", arguments.out}, {"--json", arguments.json}});
  std::optional<AtomicFile> json;
  if (arguments.json) json.emplace(*arguments.json);
  auto bar = std::make_unique<cli::ProgressBar>("critic-prior", arguments.options.steps);
  const Index every = std::max<Index>(1, arguments.options.steps / 40);
  const auto progress = [&](const CriticPriorStep& step) {
    if (step.step == 1 || step.step % every == 0) {
      bar->print(
          fmt::format("step {:>4}  W1 (critic) {:9.5f}  critic loss {:10.5f} first, {:9.5f} halfway, "
                      "{:9.5f} after {}  gradient {:.3g}  {:.2f} s\n",
                      step.step, step.distance, step.first_loss, step.halfway_loss, step.final_loss,
                      step.critic_steps, step.gradient_norm, step.seconds));
      (void)std::fflush(stdout);
    }
    bar->advance();
  };
  const CriticPriorResult result = fit_critic_prior(arguments.options, progress, &cli::cancel_flag());
  bar.reset();
  save_network(arguments.out, result.network,
               {{"method", "critic-prior"}, {"kernel", arguments.options.kernel}});
  std::fputs(convergence_line(result.history).c_str(), stdout);
  std::fputs(fmt::format("{:.1f} s, {:.3f} s per step of the prior\nwrote {}\n", result.seconds,
                         result.seconds / static_cast<double>(result.history.size()), arguments.out)
                 .c_str(),
             stdout);
  if (!json) return;
  cli::commit_json(*json, report_of(arguments, result));
  std::printf("wrote %s\n", arguments.json->c_str());
}

struct IsotropicArguments {
  CriticPriorOptions network;  ///< arch and activation
  double variance = 1.0;
  bool by_fan_in = false;
  std::string out;
};

const OptionTable<IsotropicArguments>& isotropic_table() {
  using A = IsotropicArguments;
  static const OptionTable<A> table = {
      real_option("variance", &A::variance, 0.0, "of every weight and bias"),
      flag_option("fan-in", &A::by_fan_in, "divide that of weights by the layer's inputs"),
  };
  return table;
}

void run_isotropic_prior(const IsotropicArguments& arguments) {
  const PriorParameters prior(arguments.network.layer_sizes(), Activation(arguments.network.activation),
                              PriorForm::PerLayer, TunedMeans::None);
  save_network(arguments.out, prior.network(prior.isotropic(arguments.variance, arguments.by_fan_in)),
               {{"method", "isotropic-prior"}});
  std::printf("wrote %s\n", arguments.out.c_str());
}

}  // namespace

void add_prior_commands(CLI::App& app) {
  CLI::App* critic = app.add_subcommand("critic-prior", "a prior by a critic's W1 to a Gaussian process");
  auto arguments = std::make_shared<CriticArguments>();
  cli::add_table_options(*critic, critic_prior_table(), arguments->options);
  critic->add_option("--out", arguments->out, "model file to write")->type_name("FILE")->required();
  critic->add_option("--json", arguments->json, "write all steps")->type_name("FILE");
  critic->footer(
      "Example:\n  mixcert critic-prior --arch 1-128-128-1 --kernel 'rbf(lengthscale=0.5)' --critic-steps "
      "100 "
      "--out prior.safetensors\nWhat is followed: docs/prior-baselines.md");
  critic->callback([arguments] { run_critic_prior(*arguments); });

  CLI::App* isotropic = app.add_subcommand("isotropic-prior", "a prior with one variance for all weights");
  auto given = std::make_shared<IsotropicArguments>();
  cli::add_table_options(*isotropic, critic_prior_table(), given->network, {"arch", "activation"});
  cli::add_table_options(*isotropic, isotropic_table(), *given);
  isotropic->add_option("--out", given->out, "model file to write")->type_name("FILE")->required();
  isotropic->footer(
      "Example:\n  mixcert isotropic-prior --arch 1-128-128-1 --fan-in --out prior.safetensors");
  isotropic->callback([given] { run_isotropic_prior(*given); });
}

}  // namespace mixcert::lab
