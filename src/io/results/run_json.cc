// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The record of a run to JSON and back. Numbers go through unchanged: both sides write the shortest text that
// reads back as the same double.
#include <algorithm>

#include "io/files/file_error.h"
#include "io/files/strict_json.h"
#include "io/results/result_parts.h"

namespace mixcert::io {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kField = "'run'";

/// Options are given as text: numbers, true and false become such, nothing becomes null.
ordered_json option_value(const std::string& text) {
  if (text.empty()) return nullptr;
  ordered_json value = ordered_json::parse(text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : ordered_json(text);
}

std::string with(std::string name, char from, char to) {
  std::replace(name.begin(), name.end(), from, to);
  return name;
}

ordered_json options_of(const RunRecord& run) {
  ordered_json options = ordered_json::object();
  for (const auto& [name, value] : run.options) options[with(name, '-', '_')] = option_value(value);
  return options;
}

ordered_json members_of(const RunRecord& run) {
  ordered_json members = ordered_json::array();
  for (const ModelRecord& member : run.members) {
    members.push_back({{"sha256", member.sha256}, {"weight", member.weight}});
  }
  return members;
}

/// Reads members of one object; those that are absent give what an empty record has.
class Fields {
 public:
  Fields(const json& object, std::string file) : object_(object), file_(std::move(file)) {
    if (!object.is_object()) bad_file(file_, kField, "a JSON object", json_text(object));
  }

  [[nodiscard]] const json* find(const std::string& key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::string text(const std::string& key) const {
    return find(key) == nullptr ? "" : json_string(object_, key, file_, kField);
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& key) const {
    std::vector<std::string> result;
    for (const json& value : list(key)) {
      if (!value.is_string()) fail(key, "a list of strings", value);
      result.push_back(value.get<std::string>());
    }
    return result;
  }
  [[nodiscard]] json list(const std::string& key) const {
    const json* value = find(key);
    if (value == nullptr) return json::array();
    if (!value->is_array()) fail(key, "a list", *value);
    return *value;
  }
  [[noreturn]] void fail(const std::string& key, const std::string& expected, const json& got) const {
    bad_file(file_, std::string(kField) + ": " + in_quotes(key), expected, json_text(got));
  }

 private:
  const json& object_;
  std::string file_;
};

std::vector<std::pair<std::string, std::string>> read_options(const Fields& fields) {
  std::vector<std::pair<std::string, std::string>> options;
  const json* object = fields.find("options");
  if (object == nullptr) return options;
  if (!object->is_object()) fields.fail("options", "an object", *object);
  for (const auto& [key, value] : object->items()) {
    if (value.is_structured()) fields.fail("options", "numbers, texts, true, false and null", value);
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    options.emplace_back(with(key, '_', '-'), value.is_null() ? "" : std::move(text));
  }
  return options;
}

std::vector<ModelRecord> read_members(const Fields& fields, const std::string& file) {
  std::vector<ModelRecord> members;
  for (const json& member : fields.list("members")) {
    const Fields inner(member, file);
    const json* weight = inner.find("weight");
    if (weight == nullptr || !weight->is_number() || !(weight->get<double>() > 0.0)) {
      fields.fail("members", "objects with a positive weight", member);
    }
    members.push_back({inner.text("sha256"), weight->get<double>()});
  }
  return members;
}

template <class Enum>
std::vector<std::string> names_up_to(Enum last) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) names.emplace_back(to_string(static_cast<Enum>(i)));
  return names;
}

}  // namespace

std::string text_of(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json run_to_json(const RunRecord& run) {
  ordered_json head = {{"mixcert", run.version}};
  if (run.members.empty()) {
    head["model_sha256"] = run.model_sha256;
  } else {
    head["members"] = members_of(run);
  }
  head.update({{"model_files", run.model_files},
               {"inputs_file", run.inputs_file},
               {"outputs", run.outputs},
               {"assumptions", run.assumptions},
               {"seed", run.seed},
               {"command", run.command},
               {"joint", run.joint},
               {"options", options_of(run)}});
  if (!run.functional.empty()) head["functional"] = run.functional;
  if (!run.statistics_assumption.empty()) head["statistics_assumption"] = run.statistics_assumption;
  return head;
}

RunRecord run_from_json(const json& value, const std::string& file) {
  const Fields fields(value, file);
  RunRecord run;
  run.version = fields.text("mixcert");
  run.model_sha256 = fields.text("model_sha256");
  run.assumptions = fields.texts("assumptions");
  if (const json* seed = fields.find("seed"); seed != nullptr) {
    if (!seed->is_number_unsigned()) fields.fail("seed", "an integer in 0..2^64-1", *seed);
    run.seed = seed->get<std::uint64_t>();
  }
  run.command = fields.text("command");
  if (const json* joint = fields.find("joint"); joint != nullptr) {
    if (!joint->is_boolean()) fields.fail("joint", "true or false", *joint);
    run.joint = joint->get<bool>();
  }
  run.options = read_options(fields);
  run.members = read_members(fields, file);
  run.model_files = fields.texts("model_files");
  run.inputs_file = fields.text("inputs_file");
  run.functional = fields.text("functional");
  if (const json* outputs = fields.find("outputs"); outputs != nullptr) {
    run.outputs = json_size(*outputs, file, std::string(kField) + ": 'outputs'");
  }
  run.statistics_assumption = fields.text("statistics_assumption");
  return run;
}

StoredChoices StoredChoices::known() {
  return {names_up_to(Method::Coupled), names_up_to(CertificateMode::Paper),
          names_up_to(Termination::BudgetSpent)};
}

ordered_json choices_to_json(const StoredChoices& choices) {
  return {{"methods", choices.methods},
          {"certificates", choices.certificates},
          {"terminations", choices.terminations}};
}

StoredChoices choices_from_json(const json& value, const std::string& file) {
  const Fields fields(value, file);
  return {fields.texts("methods"), fields.texts("certificates"), fields.texts("terminations")};
}

}  // namespace mixcert::io
