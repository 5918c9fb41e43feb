// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The record of a run as JSON: the head of R.json, and the array `run` of R.npz.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "mixcert/io/result_file.h"

namespace mixcert::io {

nlohmann::ordered_json run_to_json(const RunRecord& run);
/// The inverse, of text from anywhere: keys it does not know are ignored, those it knows are checked. Throws
/// FileError.
RunRecord run_from_json(const nlohmann::json& value, const std::string& file);

/// JSON in one line; text that is no UTF-8 is replaced.
std::string text_of(const nlohmann::ordered_json& value);

/// Choices are stored as numbers, their names once in the run: `methods`, `certificates`, `terminations`.
struct StoredChoices {
  std::vector<std::string> methods;
  std::vector<std::string> certificates;
  std::vector<std::string> terminations;

  /// All choices of this version.
  static StoredChoices known();
};
nlohmann::ordered_json choices_to_json(const StoredChoices& choices);
StoredChoices choices_from_json(const nlohmann::json& value, const std::string& file);

}  // namespace mixcert::io
