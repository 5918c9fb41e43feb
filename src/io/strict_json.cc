// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Strict JSON parsing with nlohmann-json's events.
#include "io/strict_json.h"

#include <algorithm>
#include <set>
#include <vector>

#include "io/file_error.h"
#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 16;

/// Follows the parser and refuses what the document tree would hide.
class StrictEvents {
 public:
  StrictEvents(const std::string& file, const std::string& field) : file_(file), field_(field) {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) {
      bad_file(file_, field_, "JSON nested at most " + std::to_string(kMaxDepth) + " deep", "deeper nesting");
    }
    if (event == json::parse_event_t::object_start) keys_.emplace_back();
    if (event == json::parse_event_t::object_end) keys_.pop_back();
    if (event == json::parse_event_t::key && !keys_.back().insert(parsed.get<std::string>()).second) {
      bad_file(file_, field_, "each key once", "two of " + in_quotes(parsed.get<std::string>()));
    }
    return true;
  }

 private:
  const std::string& file_;
  const std::string& field_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

json parse_strict_json(std::string_view text, const std::string& file, const std::string& field) {
  StrictEvents events(file, field);
  try {
    return json::parse(text.begin(), text.end(), std::ref(events));
  } catch (const json::parse_error& error) {
    bad_file(file, field, "valid JSON", "an error near byte " + std::to_string(error.byte));
  } catch (const json::exception&) {
    bad_file(file, field, "valid JSON", "a number out of range");
  }
}

std::string json_text(const json& value) {
  return std::string(value.type_name()) + " " +
         in_quotes(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

void require_keys(const json& value, std::initializer_list<std::string_view> known, const std::string& file,
                  const std::string& field) {
  if (!value.is_object()) bad_file(file, field, "a JSON object", json_text(value));
  for (const auto& item : value.items()) {
    if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
    std::string list;
    for (const std::string_view key : known) list += (list.empty() ? "" : ", ") + std::string(key);
    bad_file(file, field, "only the keys " + list, in_quotes(item.key()));
  }
}

std::string json_string(const json& object, const std::string& key, const std::string& file,
                        const std::string& field) {
  const auto found = object.find(key);
  if (found == object.end()) bad_file(file, field, "key " + in_quotes(key), "none");
  if (!found->is_string()) bad_file(file, field + ": " + in_quotes(key), "a string", json_text(*found));
  return found->get<std::string>();
}

Index json_size(const json& value, const std::string& file, const std::string& field) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 62U;
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kLargest) {
    bad_file(file, field, "an integer in 0..2^62", json_text(value));
  }
  return static_cast<Index>(value.get<std::uint64_t>());
}

}  // namespace mixcert::io
