// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The JSON of mixcert tune and of comparisons with a target.
#pragma once

#include <nlohmann/json.hpp>

#include "mixcert/statistics/prior_comparison.h"
#include "mixcert/tune/tune.h"

namespace mixcert::cli {

nlohmann::ordered_json comparison_json(const PriorComparison& comparison);
nlohmann::ordered_json tune_json(const TuneOptions& options, const PriorComparisonOptions& comparison_options,
                                 const TuneProblem& problem, const TuneRun& run,
                                 const PriorComparison& comparison);

}  // namespace mixcert::cli
