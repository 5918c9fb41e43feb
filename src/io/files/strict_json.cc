// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Strict JSON parsing: a pass of nlohmann-json's events, then the document tree.
#include "io/files/strict_json.h"

#include <algorithm>
#include <set>
#include <vector>

#include "io/files/file_error.h"
#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 16;

/// A first pass that refuses what the document tree would hide. The library's own
/// callback for this walks all siblings at the end of every object: minutes for a header
/// of 20 MiB, where two passes take two seconds.
class StrictEvents : public nlohmann::json_sax<json> {
 public:
  StrictEvents(const std::string& file, const std::string& field) : file_(file), field_(field) {}

  bool start_object(std::size_t /*elements*/) override { return enter(); }
  bool start_array(std::size_t /*elements*/) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(std::string& name) override {
    if (!keys_.back().insert(name).second) {
      bad_file(file_, field_, "each key once", "two of " + in_quotes(name));
    }
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(std::int64_t /*value*/) override { return true; }
  bool number_unsigned(std::uint64_t /*value*/) override { return true; }
  bool number_float(double /*value*/, const std::string& /*text*/) override { return true; }
  bool string(std::string& /*value*/) override { return true; }
  bool binary(json::binary_t& /*value*/) override { return true; }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const json::exception& error) override {
    bad_file(file_, field_, "valid JSON",
             (error.id == kOutOfRange ? "a number out of range near byte " : "an error near byte ") +
                 std::to_string(position));
  }

 private:
  static constexpr int kOutOfRange = 406;

  bool enter() {
    if (keys_.size() == kMaxDepth) {
      bad_file(file_, field_, "JSON nested at most " + std::to_string(kMaxDepth) + " deep", "deeper nesting");
    }
    keys_.emplace_back();
    return true;
  }
  bool leave() {
    keys_.pop_back();
    return true;
  }

  const std::string& file_;
  const std::string& field_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

json parse_strict_json(std::string_view text, const std::string& file, const std::string& field) {
  StrictEvents events(file, field);
  json::sax_parse(text.begin(), text.end(), &events);
  return json::parse(text.begin(), text.end());
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
