// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Answers, explanations and prior selection as JSON. What does not exist is null.
#include "command_json.h"

#include <cmath>
#include <string>

#include "mixcert/core/version.h"
#include "report/terminal/text_report.h"
#include "run_context.h"

namespace mixcert::cli {
namespace {

using Json = nlohmann::ordered_json;

Json intervals_json(const std::vector<Interval>& intervals) {
  Json list = Json::array();
  for (const Interval& interval : intervals) list.push_back(interval_json(interval));
  return list;
}

Json credible_json(const CredibleInterval& interval) {
  return {{"level", interval.level},
          {"lower", json_number(interval.lower)},
          {"upper", json_number(interval.upper)},
          {"mixture_mass", json_number(interval.mixture_mass)}};
}

Json predictive_json(const PredictiveMoments& target) {
  return {{"mean", interval_json(target.mean)},
          {"epistemic_variance", interval_json(target.epistemic)},
          {"aleatoric_variance", interval_json(target.aleatoric)},
          {"total_variance", interval_json(target.total)}};
}

Json covariances_json(const CovarianceAnswers& covariances) {
  Json rows = Json::array();
  for (Index i = 0; i < covariances.estimate.rows(); ++i) {
    Json row = Json::array();
    for (Index j = 0; j < covariances.estimate.cols(); ++j)
      row.push_back(interval_json(covariances.entry(i, j)));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json classes_json(const ClassAnswer& answer) {
  return {{"predicted", answer.predicted},
          {"settled", answer.settled},
          {"probabilities", intervals_json(answer.probabilities)},
          {"margins", intervals_json(answer.margins)}};
}

Json probability_json(const ProbabilityAnswer& answer, const std::string& statement) {
  return {{"statement", statement},
          {"probability", interval_json(answer.interval)},
          {"source", answer.is_computed ? "computed law" : "bound"},
          {"failure_probability", answer.failure_probability}};
}

}  // namespace

Json interval_json(const Interval& interval) {
  return {{"estimate", json_number(interval.estimate)},
          {"lower", json_number(interval.lower)},
          {"upper", json_number(interval.upper)}};
}

Json answers_json(Index input, const CertifiedLaw& law, const LawAnswers& answers,
                  const std::vector<std::string>& statements) {
  Json json{{"input", input},
            {"w2_bound", json_number(law.w2())},
            {"mean", intervals_json(answers.moments.means)},
            {"std", intervals_json(answers.moments.deviations)}};
  for (const CredibleInterval& interval : answers.credible)
    json["credible"].push_back(credible_json(interval));
  for (const PredictiveMoments& target : answers.predictive)
    json["predictive"].push_back(predictive_json(target));
  if (answers.covariances) json["covariance"] = covariances_json(*answers.covariances);
  if (answers.classes) json["classes"] = classes_json(*answers.classes);
  for (std::size_t s = 0; s < answers.probabilities.size(); ++s)
    json["probabilities"].push_back(probability_json(answers.probabilities[s], statements[s]));
  return json;
}

Json simulated_json(const SimulatedAnswers& answers, const std::vector<std::string>& statements) {
  Json json{{"draws", answers.draws}, {"failure_probability", answers.failure_probability}};
  for (std::size_t s = 0; s < answers.probabilities.size(); ++s) {
    json["probabilities"].push_back(
        {{"statement", statements[s]}, {"probability", interval_json(answers.probabilities[s])}});
  }
  for (const SimulatedInterval& interval : answers.credible) {
    json["credible"].push_back({{"level", interval.level},
                                {"lower", json_number(interval.lower)},
                                {"upper", json_number(interval.upper)},
                                {"share_of_draws", interval.share}});
  }
  if (answers.classes) json["classes"] = classes_json(*answers.classes);
  return json;
}

Json extremes_json(const std::vector<Extremes>& all) {
  Json list = Json::array();
  for (const Extremes& one : all) {
    list.push_back({{"of", one.name},
                    {"least", interval_json(one.least)},
                    {"least_cell", one.least_cell},
                    {"largest", interval_json(one.greatest)},
                    {"largest_cell", one.greatest_cell}});
  }
  return list;
}

Json scores_json(const RegressionSummary& summary) {
  Json json{{"points", summary.points},
            {"rmse", interval_json(summary.rmse)},
            {"nll", interval_json(summary.nll)},
            {"crps", interval_json(summary.crps)}};
  for (const Coverage& coverage : summary.coverage)
    json["coverage"].push_back({{"level", coverage.level}, {"share", interval_json(coverage.share)}});
  return json;
}

Json scores_json(const ClassSummary& summary) {
  return {{"points", summary.points},
          {"settled", summary.settled},
          {"correct_and_settled", summary.correct_and_settled},
          {"accuracy", interval_json(summary.accuracy)},
          {"nll", interval_json(summary.nll)},
          {"brier", interval_json(summary.brier)},
          {"calibration_error_of_mixture", json_number(summary.calibration_error)}};
}

// Explanations: every amount of every neuron.

namespace {

using nlohmann::ordered_json;

ordered_json list_of(const Vector& values) {
  return std::vector<double>(values.data(), values.data() + values.size());
}

ordered_json layer_json(const LayerContributions& layer, std::size_t number) {
  ordered_json sources = ordered_json::array();
  for (const Contribution& part : layer.parts) {
    ordered_json entry = {{"source", to_string(part.source)}, {"amount", part.amount}};
    if (part.neurons.size() > 0) entry["neurons"] = list_of(part.neurons);
    if (part.outputs.size() > 0) entry["outputs"] = list_of(part.outputs);
    sources.push_back(std::move(entry));
  }
  ordered_json json = {{"layer", number}, {"amount", layer.total}, {"sources", std::move(sources)}};
  if (!layer.title.empty()) json["title"] = layer.title;
  if (layer.directions.size() > 0) {
    json["left_out"] = layer.directions(0);
    json["axes"] = list_of(layer.directions.tail(layer.directions.size() - 1));
  }
  return json;
}

}  // namespace

namespace {

ordered_json normality_json(const Result& result) {
  const LeastNormal least = least_normal(result);
  return {{"output", least.output},
          {"skewness", least.shape.skewness},
          {"excess_kurtosis", least.shape.excess_kurtosis},
          {"gaussian_distance_in_deviations", least.shape.gaussian_distance}};
}

}  // namespace

ordered_json explanation_json(const Explanation& explanation) {
  const BoundContributions& all = explanation.contributions;
  ordered_json layers = ordered_json::array();
  for (std::size_t k = 0; k < all.layers.size(); ++k) layers.push_back(layer_json(all.layers[k], k + 1));
  ordered_json json = {{"method", to_string(explanation.result.method)},
                       {"w2_bound", explanation.result.w2.value},
                       {"relative_w2_bound", explanation.result.relative_w2},
                       {"networks", explanation.members},
                       {"network", explanation.member},
                       {"network_w2_bound", all.bound},
                       {"first", all.first},
                       {"normality", normality_json(explanation.result)},
                       {"layers", std::move(layers)}};
  if (!std::isnan(explanation.result.w2_lower)) json["w2_lower"] = explanation.result.w2_lower;
  if (!std::isnan(explanation.result.w2_lower_mixture))
    json["w2_lower_mixture"] = explanation.result.w2_lower_mixture;
  if (const auto& forecast = explanation.forecast) {
    json["simulation_forecast"] = {
        {"w2_estimate", forecast->w2}, {"draws", forecast->draws}, {"seconds_estimate", forecast->seconds}};
  }
  return json;
}

ordered_json trials_json(const std::vector<Trial>& trials) {
  ordered_json all = ordered_json::array();
  for (const Trial& trial : trials) {
    ordered_json entry = {{"change", trial.change}, {"w2_bound", nullptr}, {"seconds", trial.seconds}};
    if (trial.failure.empty()) {
      entry["w2_bound"] = trial.w2_bound;
    } else {
      entry["failure"] = trial.failure;
    }
    all.push_back(std::move(entry));
  }
  return all;
}

// Prior selection: certified numbers and estimates are in objects of their own.

namespace {

using Json = nlohmann::ordered_json;

std::string underscored(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

template <class Owner>
void add_fields(const OptionTable<Owner>& table, const Owner& owner, Json& json) {
  for (const auto& field : table) json[underscored(field.name)] = field.get(owner);
}

Json certified_json(const PriorComparison& c) {
  Json json{{"w2", json_number(c.w2_certified)}, {"relative_w2", json_number(c.relative(c.w2_certified))}};
  for (const PriorCertificate& certificate : c.certificates) {
    json["methods"].push_back({{"method", to_string(certificate.method)},
                               {"bound", json_number(certificate.bound)},
                               {"distance", json_number(certificate.distance)},
                               {"w2", json_number(certificate.w2)},
                               {"gap", certificate.gap}});
  }
  return json;
}

}  // namespace

Json comparison_json(const PriorComparison& c) {
  Json statistical{{"samples", c.samples},
                   {"w2_lower_statistical", json_number(c.lower.lower)},
                   {"lower_confidence", json_number(c.lower.confidence)},
                   {"gelbrich", json_number(c.lower.plug_in)},
                   {"relative_gelbrich", json_number(c.relative(c.lower.plug_in))},
                   {"gelbrich_floor", json_number(c.gelbrich_floor)},
                   {"coupled_samples", c.coupled_samples},
                   {"w2_upper_statistical", json_number(c.w2_upper_statistical)},
                   {"relative_w2_upper_statistical", json_number(c.relative(c.w2_upper_statistical))},
                   {"failure_probability", c.failure_probability},
                   {"empirical_samples", c.empirical_samples},
                   {"empirical_w2", json_number(c.empirical.distance)},
                   {"relative_empirical_w2", json_number(c.relative(c.empirical.distance))},
                   {"empirical_floor", json_number(c.empirical.floor)},
                   {"relative_empirical_floor", json_number(c.relative(c.empirical.floor))},
                   {"assumption", c.assumption}};
  return {{"target_scale", c.target_scale},
          {"certified", certified_json(c)},
          {"statistical", std::move(statistical)}};
}

Json tune_json(const TuneOptions& options, const PriorComparisonOptions& comparison_options,
               const TuneProblem& problem, const TuneRun& run, const PriorComparison& comparison) {
  Json json{{"version", version()}, {"command", command_line()}, {"target", problem.description}};
  Json& settings = json["options"];
  add_fields(tune_option_table(), options, settings);
  add_fields(prior_comparison_table(), comparison_options, settings);
  json["parameters"] = run.parameter_count;
  json["seconds"] = run.seconds;
  json["resumed"] = run.resumed;
  json["held_out"] = run.held_out;
  json["comparison"] = comparison_json(comparison);
  for (const TuneStep& step : run.history) {
    json["history"].push_back({{"step", step.step},
                               {"objective", json_number(step.objective)},
                               {"bound", json_number(step.bound)},
                               {"distance", json_number(step.distance)},
                               {"target_scale", step.target_scale}});
  }
  return json;
}

}  // namespace mixcert::cli
