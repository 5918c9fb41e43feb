// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The JSON of commands: mixcert answer, explain and tune.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "mixcert/answer/extremes.h"
#include "mixcert/answer/questions.h"
#include "mixcert/answer/scores.h"
#include "mixcert/answer/simulated_answers.h"
#include "mixcert/certify/explain.h"
#include "mixcert/certify/trial.h"
#include "mixcert/statistics/prior_comparison.h"
#include "mixcert/tune/tune.h"

namespace mixcert::cli {

// `answer`: every answer as {"estimate", "lower", "upper"}.

/// Null stands for what does not exist or is infinite.
nlohmann::ordered_json interval_json(const Interval& interval);
nlohmann::ordered_json answers_json(Index input, const CertifiedLaw& law, const LawAnswers& answers,
                                    const std::vector<std::string>& statements);
nlohmann::ordered_json simulated_json(const SimulatedAnswers& answers,
                                      const std::vector<std::string>& statements);
nlohmann::ordered_json extremes_json(const std::vector<Extremes>& all);
nlohmann::ordered_json scores_json(const RegressionSummary& summary);
nlohmann::ordered_json scores_json(const ClassSummary& summary);

// `explain`: what it prints, docs/explain.md.

nlohmann::ordered_json explanation_json(const Explanation& explanation);
nlohmann::ordered_json trials_json(const std::vector<Trial>& trials);

// `tune`, and comparisons with a target.

nlohmann::ordered_json comparison_json(const PriorComparison& comparison);
nlohmann::ordered_json tune_json(const TuneOptions& options, const PriorComparisonOptions& comparison_options,
                                 const TuneProblem& problem, const TuneRun& run,
                                 const PriorComparison& comparison);

}  // namespace mixcert::cli
