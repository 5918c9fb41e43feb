// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Checked members of JSON objects.
#include "io/models/entry_fields.h"

#include <algorithm>
#include <cmath>

#include "io/files/file_error.h"
#include "io/files/strict_json.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert::io {

using nlohmann::json;

void EntryFields::bad(const std::string& key, const std::string& expected, const std::string& got) const {
  bad_file(file_, field_ + ": " + key, expected, got);
}

void EntryFields::only_keys(std::initializer_list<std::string_view> known) const {
  for (const auto& item : entry_.items()) {
    if (item.key() == "name" || item.key() == "inputs") continue;
    require_keys(json::object({{item.key(), nullptr}}), known, file_, field_);
  }
}

std::string EntryFields::text(const char* key) const { return json_string(entry_, key, file_, field_); }

std::string EntryFields::name() const {
  std::string name = text("name");
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (name.empty() || std::any_of(name.begin(), name.end(), is_control)) {
    bad("name", "a name without control characters", in_quotes(name));
  }
  return name;
}

Index EntryFields::integer(const json& value, const std::string& field, Index least) const {
  const Index number = json_size(value, file_, field);
  if (number < least || number > kMaxLayerSize) {
    bad_file(file_, field, "an integer in " + std::to_string(least) + ".." + std::to_string(kMaxLayerSize),
             std::to_string(number));
  }
  return number;
}

Index EntryFields::count(const char* key) const {
  const auto found = entry_.find(key);
  if (found == entry_.end()) bad(key, "an integer", "none");
  return integer(*found, field_ + ": " + key, 1);
}

double EntryFields::number(const char* key) const {
  const auto found = entry_.find(key);
  if (found == entry_.end()) bad(key, "a finite number", "none");
  if (!found->is_number() || !std::isfinite(found->get<double>()))
    bad(key, "a finite number", json_text(*found));
  return found->get<double>();
}

Size2d EntryFields::size(const char* key, Index least) const {
  const auto found = entry_.find(key);
  const std::string field = field_ + ": " + key;
  if (found == entry_.end()) bad(key, "an integer or [height, width]", "none");
  if (!found->is_array()) {
    const Index both = integer(*found, field, least);
    return {both, both};
  }
  if (found->size() != 2) bad(key, "an integer or [height, width]", json_text(*found));
  return {integer((*found)[0], field, least), integer((*found)[1], field, least)};
}

LayerShape EntryFields::shape(const char* key) const {
  const json& sizes = list(key);
  if (sizes.size() != 1 && sizes.size() != 3) bad(key, "[n] or [channels, height, width]", json_text(sizes));
  const auto at = [&](std::size_t i) { return integer(sizes[i], field_ + ": " + key, 1); };
  if (sizes.size() == 1) return {at(0), {}, false};
  return {at(0), {at(1), at(2)}, true};
}

std::string EntryFields::title() const {
  const std::string type = text("type");
  return has("name") ? type + " '" + name() + "'" : type;
}

Window2d EntryFields::window(const Size2d& default_stride) const {
  Window2d window;
  window.kernel = size("kernel", 1);
  window.stride = default_stride.height > 0 ? default_stride : window.kernel;
  if (has("stride")) window.stride = size("stride", 1);
  if (has("padding")) window.padding = size("padding", 0);
  if (has("dilation")) window.dilation = size("dilation", 1);
  return window;
}

const json& EntryFields::list(const char* key) const {
  const auto found = entry_.find(key);
  if (found == entry_.end() || !found->is_array() || found->empty()) {
    bad(key, "a list that is not empty", found == entry_.end() ? "none" : json_text(*found));
  }
  return *found;
}

}  // namespace mixcert::io
