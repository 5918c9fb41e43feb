// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The JSON of mixcert answer: every answer as {"estimate", "lower", "upper"}.
#pragma once

#include <nlohmann/json.hpp>

#include "mixcert/answer/questions.h"
#include "mixcert/answer/scores.h"

namespace mixcert::cli {

/// Null stands for what does not exist or is infinite.
nlohmann::ordered_json interval_json(const Interval& interval);
nlohmann::ordered_json answers_json(Index input, const CertifiedLaw& law, const LawAnswers& answers,
                                    const std::vector<std::string>& statements);
nlohmann::ordered_json scores_json(const RegressionSummary& summary);
nlohmann::ordered_json scores_json(const ClassSummary& summary);

}  // namespace mixcert::cli
