// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// JSON from untrusted files: duplicate keys and deep nesting are errors, every failure
// is a FileError.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "mixcert/core/types.h"

namespace mixcert::io {

/// `field` names the text in messages.
nlohmann::json parse_strict_json(std::string_view text, const std::string& file, const std::string& field);

/// Type and shortened text of a value, for messages.
std::string json_text(const nlohmann::json& value);

/// Throws FileError unless `value` is an object with keys from `known` only.
void require_keys(const nlohmann::json& value, std::initializer_list<std::string_view> known,
                  const std::string& file, const std::string& field);

/// Member `key` as text, or as an integer in 0..2^62; FileError otherwise.
std::string json_string(const nlohmann::json& object, const std::string& key, const std::string& file,
                        const std::string& field);
Index json_size(const nlohmann::json& value, const std::string& file, const std::string& field);

}  // namespace mixcert::io
