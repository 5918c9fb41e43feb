// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace mixcert_check {

Json Json::parse(std::string_view text) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> keys;
  const auto look = [&keys](int depth, Event event, const nlohmann::json& parsed) {
    if (depth > 32) throw BadFile("JSON: nested too deeply");
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second)
      throw BadFile("JSON: a key is there twice");
    return true;
  };
  try {
    return Json(nlohmann::json::parse(text, look));
  } catch (const nlohmann::json::exception& error) {
    throw BadFile(std::string("JSON: ") + error.what());
  }
}

Json::Json(const nlohmann::json& value) {
  if (value.is_number()) {
    kind_ = Kind::Number;
    number_ = value.get<double>();
  } else if (value.is_string()) {
    kind_ = Kind::Text;
    text_ = value.get<std::string>();
  } else if (value.is_array()) {
    kind_ = Kind::List;
    for (const nlohmann::json& one : value) list_.push_back(Json(one));
  } else if (value.is_object()) {
    kind_ = Kind::Object;
    for (const auto& [key, one] : value.items()) object_.emplace(key, Json(one));
  }
}

void Json::expect(Kind kind, const char* name) const {
  if (kind_ != kind) throw BadFile(std::string("JSON: expected ") + name);
}

double Json::number() const {
  expect(Kind::Number, "a number");
  return number_;
}

const std::string& Json::text() const {
  expect(Kind::Text, "a text");
  return text_;
}

const std::vector<Json>& Json::list() const& {
  expect(Kind::List, "a list");
  return list_;
}

const std::map<std::string, Json>& Json::object() const& {
  expect(Kind::Object, "an object");
  return object_;
}

long Json::whole(long most) const {
  const double value = number();
  if (!(value >= 0.0 && value <= static_cast<double>(most)) || value != std::floor(value)) {
    throw BadFile("JSON: expected a whole number from 0 to " + std::to_string(most));
  }
  return static_cast<long>(value);
}

const Json& Json::at(const std::string& key) const {
  const Json* found = find(key);
  if (found == nullptr) throw BadFile("JSON: expected a member '" + key + "'");
  return *found;
}

const Json* Json::find(const std::string& key) const {
  const auto& members = object();
  const auto found = members.find(key);
  return found == members.end() ? nullptr : &found->second;
}

}  // namespace mixcert_check
