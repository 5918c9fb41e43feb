// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "answer_json.h"

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

}  // namespace mixcert::cli
