// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Values of JSON text, for the headers of files; nlohmann's library reads them.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mixcert_check {

/// A file is not what it should be. Exit status 2.
struct BadFile : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Json {
 public:
  /// Throws BadFile with the place where the text is no JSON; nesting deeper than 32 and keys given twice are
  /// refused.
  static Json parse(std::string_view text);

  /// Each throws BadFile where the value is of another kind.
  [[nodiscard]] double number() const;
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const std::vector<Json>& list() const&;
  [[nodiscard]] const std::map<std::string, Json>& object() const&;
  // Of a value that goes away: a loop over it would read what is gone.
  const std::vector<Json>& list() && = delete;
  const std::map<std::string, Json>& object() && = delete;
  /// A whole number from 0 to `most`.
  [[nodiscard]] long whole(long most) const;
  /// Throws BadFile where there is no such member.
  [[nodiscard]] const Json& at(const std::string& key) const;
  /// Null where there is none.
  [[nodiscard]] const Json* find(const std::string& key) const;

 private:
  enum class Kind { Other, Number, Text, List, Object };
  explicit Json(const nlohmann::json& value);
  void expect(Kind kind, const char* name) const;

  Kind kind_ = Kind::Other;
  double number_ = 0.0;
  std::string text_;
  std::vector<Json> list_;
  std::map<std::string, Json> object_;
};

}  // namespace mixcert_check
