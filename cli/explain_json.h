// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What mixcert explain prints, as JSON, docs/explain.md.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "mixcert/certify/explain.h"
#include "mixcert/certify/trial.h"

namespace mixcert::cli {

nlohmann::ordered_json explanation_json(const Explanation& explanation);
nlohmann::ordered_json trials_json(const std::vector<Trial>& trials);

}  // namespace mixcert::cli
