// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reports of a training. A target of scale s has errors s times those of the standardised one, and densities
// divided by s.
#include "train_report.h"

#include <fmt/format.h>

#include <cmath>

#include "run_context.h"

namespace mixcert::lab {
namespace {

using nlohmann::ordered_json;

std::string table_row(const std::string& label, const Metrics& train, const Metrics& test, bool regression) {
  return fmt::format("{:<22} {:>10} {:>10} {:>10.5f} {:>10.5f}\n", label, score_text(train.score, regression),
                     score_text(test.score, regression), train.negative_log_likelihood,
                     test.negative_log_likelihood);
}

bool has_data_units(const Dataset& data) {
  return data.task == Task::Regression && data.standardisation.target_scale.size() == 1;
}

Metrics in_data_units(const Dataset& data, Metrics metrics) {
  const double scale = data.standardisation.target_scale(0);
  metrics.score *= scale;
  metrics.negative_log_likelihood += std::log(scale);
  metrics.expected_log_likelihood -= std::log(scale);
  return metrics;
}

std::string remarks_text(const Dataset& data, const TrainSummary& summary) {
  std::string text;
  if (data.train.size() > kFinalTrainExamples) {
    text += fmt::format("; train: the first {} examples", kFinalTrainExamples);
  }
  if (summary.sampled_examples == kFinalConvolutionExamples) {
    text += fmt::format("; average: the first {} examples of either set", kFinalConvolutionExamples);
  }
  return text;
}

ordered_json metrics_json(const Metrics& metrics, bool regression) {
  return {{regression ? "rmse" : "accuracy", metrics.score}, {"nll", metrics.negative_log_likelihood}};
}

ordered_json scores_json(const Dataset& data, const Metrics& train, const Metrics& test) {
  const bool regression = data.task == Task::Regression;
  ordered_json scores{{"train", metrics_json(train, regression)}, {"test", metrics_json(test, regression)}};
  if (has_data_units(data)) {
    scores["data_units"] = {{"train", metrics_json(in_data_units(data, train), true)},
                            {"test", metrics_json(in_data_units(data, test), true)}};
  }
  return scores;
}

}  // namespace

std::string score_text(double score, bool regression) {
  return regression ? fmt::format("{:.5f}", score) : fmt::format("{:.2f} %", 100.0 * score);
}

std::string train_text(const Dataset& data, const TrainOptions& options, const TrainSummary& summary) {
  const bool regression = data.task == Task::Regression;
  const std::string name = regression ? "RMSE" : "accuracy";
  std::string text =
      fmt::format("\n{:<22} {:>10} {:>10} {:>10} {:>10}\n", "", "train", "test", "train", "test");
  text += fmt::format("{:<22} {:>10} {:>10} {:>10} {:>10}\n", "", name, name, "NLL", "NLL");
  text += table_row("mean network", summary.train_mean, summary.test_mean, regression);
  if (summary.train_samples) {
    text += table_row(fmt::format("average of {}", kFinalSamples), *summary.train_samples,
                      *summary.test_samples, regression);
  }
  text += fmt::format("{} {:.2f}", options.is_variational() ? "ELBO" : "log posterior", summary.objective);
  if (summary.noise_std) text += fmt::format(", noise {:.5f}", *summary.noise_std);
  text += remarks_text(data, summary) + "\n";
  if (has_data_units(data)) {
    const Metrics best =
        in_data_units(data, summary.test_samples ? *summary.test_samples : summary.test_mean);
    text += fmt::format("in the data's units: test RMSE {:.5f}, NLL {:.5f}\n", best.score,
                        best.negative_log_likelihood);
  }
  text += fmt::format("trained in {:.1f} s{}\n", summary.seconds, summary.resumed ? ", resumed" : "");
  for (const auto& file : summary.files) text += "wrote " + file.string() + "\n";
  for (const auto& remark : summary.remarks) text += "note: " + remark + "\n";
  return text;
}

ordered_json train_json(const Dataset& data, const DataRequest& request, const TrainOptions& options,
                        const TrainSummary& summary) {
  ordered_json chosen;
  for (const auto& field : train_option_table()) chosen[field.name] = field.get(options);
  ordered_json json{{"command", cli::command_line()},
                    {"data", data.name},
                    {"split_index", request.split_index},
                    {"options", chosen},
                    {"objective", summary.objective},
                    {"seconds", summary.seconds},
                    {"mean_network", scores_json(data, summary.train_mean, summary.test_mean)}};
  if (summary.noise_std) json["noise_std"] = *summary.noise_std;
  if (summary.train_samples) {
    json["average"] = scores_json(data, *summary.train_samples, *summary.test_samples);
    json["average"]["networks"] = kFinalSamples;
  }
  return json;
}

std::string hmc_text(const Dataset& data, const HmcSamples& samples, const TrainSummary& summary) {
  std::string text = fmt::format("{:<22} {:>10} {:>10} {:>10} {:>10}\n", "", "train RMSE", "test RMSE",
                                 "train NLL", "test NLL");
  text += table_row(fmt::format("average of {}", samples.networks.size()), *summary.train_samples,
                    *summary.test_samples, true);
  if (has_data_units(data)) {
    const Metrics own = in_data_units(data, *summary.test_samples);
    text += fmt::format("in the data's units: test RMSE {:.5f}, NLL {:.5f}\n", own.score,
                        own.negative_log_likelihood);
  }
  return text + fmt::format("accepted {:.0f} % of trajectories, step {:.5f}, {:.1f} s\n",
                            100.0 * samples.acceptance, samples.step, summary.seconds);
}

ordered_json hmc_json(const Dataset& data, const DataRequest& request, const TrainOptions& model,
                      const HmcOptions& options, const HmcSamples& samples, const TrainSummary& summary) {
  ordered_json chosen;
  for (const auto& field : hmc_option_table()) chosen[field.name] = field.get(options);
  for (const char* name : {"arch", "activation", "prior-precision", "prior-scaling", "prior"}) {
    for (const auto& field : train_option_table()) {
      if (field.name == name) chosen[field.name] = field.get(model);
    }
  }
  ordered_json json{{"command", cli::command_line()},
                    {"data", data.name},
                    {"split_index", request.split_index},
                    {"options", chosen},
                    {"noise_std", *summary.noise_std},
                    {"acceptance", samples.acceptance},
                    {"step", samples.step},
                    {"seconds", summary.seconds},
                    {"average", scores_json(data, *summary.train_samples, *summary.test_samples)}};
  json["average"]["networks"] = samples.networks.size();
  return json;
}

}  // namespace mixcert::lab
