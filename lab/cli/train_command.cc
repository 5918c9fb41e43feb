// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert train: data in, a stochastic network as a model file out.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "command.h"
#include "mixcert/core/error.h"
#include "run_context.h"
#include "terminal.h"
#include "train/train.h"
#include "train_report.h"

namespace mixcert::lab {
namespace {

/// Options as they were given; those that were not depend on the data set and the inference.
struct GivenOptions {
  std::map<std::string, std::string> texts;
};

struct TrainArguments {
  DataRequest request;
  GivenOptions given;
  std::string out;
  std::optional<std::string> json;
};

/// The table of TrainOptions, checking and keeping texts.
const OptionTable<GivenOptions>& given_table() {
  static const OptionTable<GivenOptions> table = [] {
    OptionTable<GivenOptions> fields;
    for (const auto& field : train_option_table()) {
      fields.push_back({field.name, field.kind, field.value_name, field.constraint, field.help,
                        [](const GivenOptions&) { return std::string(); },
                        [&field](GivenOptions& given, const std::string& text) {
                          TrainOptions scratch;
                          field.set(scratch, text);
                          given.texts[field.name] = text;
                        }});
    }
    return fields;
  }();
  return table;
}

/// Lines and bar while the training runs.
class ProgressReport {
 public:
  ProgressReport(const Dataset& data, const TrainOptions& options)
      : regression_(data.task == Task::Regression),
        watched_(options.validation_fraction > 0.0 ? "validation" : "test"),
        objective_(options.is_variational() ? "ELBO" : "log posterior"),
        every_(std::max<Index>(1, options.epochs / kMostLines)),
        epochs_(options.epochs) {}

  void begin_stage(const std::string& name, Index steps, Index done) {
    bar_ = std::make_unique<cli::ProgressBar>(name, steps);
    if (done > 0) {
      std::printf("%s: continues at step %lld of %lld\n", name.c_str(), static_cast<long long>(done),
                  static_cast<long long>(steps));
      bar_->advance(done);
    }
    by_adam_ = name != "train";
    quiet_ = name == "warm-up";
  }

  void finish_epoch(const EpochRecord& r) {
    if (quiet_ || (!by_adam_ && r.epoch % every_ != 0 && r.epoch != epochs_)) return;
    bar_->print(fmt::format("epoch {:>4}  log likelihood {:9.5f}  {} {:12.1f}  {} {} {}  NLL {:.5f}{}\n",
                            r.epoch, r.log_likelihood, by_adam_ ? "log posterior" : objective_, r.objective,
                            watched_, regression_ ? "RMSE" : "accuracy",
                            score_text(r.watched_score, regression_), r.watched_loss,
                            regression_ ? fmt::format("  noise {:.4f}", r.noise_std) : ""));
    (void)std::fflush(stdout);
  }

  void step() { bar_->advance(); }
  void end() { bar_.reset(); }

 private:
  static constexpr Index kMostLines = 50;

  bool regression_;
  std::string watched_;
  std::string objective_;
  Index every_;
  Index epochs_;
  bool by_adam_ = false;  ///< a stage before the variational one
  bool quiet_ = false;
  std::unique_ptr<cli::ProgressBar> bar_;
};

void run_train(const TrainArguments& arguments) {
  const TrainOptions options = resolve_train_options(arguments.given.texts, arguments.request.name);
  options.validate();
  const std::string checkpoint = checkpoint_path(options, arguments.out).string();
  const auto given_file = [](const std::string& name) {
    return name.empty() ? std::nullopt : std::optional<std::string>(name);
  };
  cli::check_outputs(
      {{"--prior", given_file(options.prior)}, {"--backbone-from", given_file(options.backbone_from)}},
      {{"--out", arguments.out}, {"--checkpoint", checkpoint}, {"--json", arguments.json}});
  std::optional<AtomicFile> json;
  if (arguments.json) json.emplace(*arguments.json);
  const Dataset data = load_dataset(arguments.request);
  ProgressReport report(data, options);
  TrainServices services;
  services.stage = [&](const std::string& name, Index steps, Index done) {
    report.begin_stage(name, steps, done);
  };
  services.epoch = [&](const EpochRecord& record) { report.finish_epoch(record); };
  services.step = [&] { report.step(); };
  services.cancel = &cli::cancel_flag();
  try {
    const TrainSummary summary = train(data, options, arguments.out, services);
    report.end();
    (void)std::fputs(train_text(data, options, summary).c_str(), stdout);
    if (json) cli::commit_json(*json, train_json(data, arguments.request, options, summary));
  } catch (const Interrupted&) {
    report.end();
    throw Interrupted("interrupted; the same command continues from " + checkpoint);
  }
}

}  // namespace

void add_train_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "train a network on a data set");
  auto arguments = std::make_shared<TrainArguments>();
  command->add_option("--data", arguments->request.name, "name of the data set")
      ->type_name("NAME")
      ->required();
  command->add_option("--out", arguments->out, "model file to write")->type_name("FILE")->required();
  command->add_option("--json", arguments->json, "file for options and scores")->type_name("FILE");
  cli::add_table_options(*command, given_table(), arguments->given);
  add_folder_option(*command, arguments->request, "--data-folder");
  add_request_options(*command, arguments->request);
  command->footer(
      "Example:\n  mixcert train --data mnist --arch 784-128-10 --inference vogn --out net.safetensors\n"
      "Defaults depend on the data set and the inference: docs/training.md");
  command->callback([arguments] { run_train(*arguments); });
}

}  // namespace mixcert::lab
