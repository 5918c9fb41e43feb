// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A reader of JSON text, for the headers of files.
#pragma once

#include <map>
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
  enum class Kind { Null, Boolean, Number, Text, List, Object };

  /// Throws BadFile with the place where the text is no JSON; nesting deeper than 32 and keys given twice are
  /// refused.
  static Json parse(std::string_view text);

  [[nodiscard]] Kind kind() const { return kind_; }
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
  friend class JsonReader;
  void expect(Kind kind, const char* name) const;

  Kind kind_ = Kind::Null;
  double number_ = 0.0;
  std::string text_;
  std::vector<Json> list_;
  std::map<std::string, Json> object_;
};

}  // namespace mixcert_check
