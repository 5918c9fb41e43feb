// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Members of one JSON object of the architecture, each with its check.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "io/models/architecture.h"

namespace mixcert::io {

class EntryFields {
 public:
  /// `field` names the object in messages. The referenced values must outlive this.
  EntryFields(const nlohmann::json& entry, const std::string& file, std::string field)
      : entry_(entry), file_(file), field_(std::move(field)) {}

  [[nodiscard]] const std::string& field() const { return field_; }
  /// Beside these every entry may have a name and inputs.
  void only_keys(std::initializer_list<std::string_view> known) const;
  [[nodiscard]] bool has(const char* key) const { return entry_.contains(key); }
  [[nodiscard]] std::string text(const char* key) const;
  /// Without control characters, not empty.
  [[nodiscard]] std::string name() const;
  /// An integer in 1..2^31-1.
  [[nodiscard]] Index count(const char* key) const;
  [[nodiscard]] double number(const char* key) const;
  /// An integer for both axes, or [height, width]; `least` is the smallest allowed.
  [[nodiscard]] Size2d size(const char* key, Index least) const;
  /// [n], or [channels, height, width].
  [[nodiscard]] LayerShape shape(const char* key) const;
  /// "add 'sum'", or the type alone.
  [[nodiscard]] std::string title() const;
  /// kernel and what is given of stride, padding and dilation.
  [[nodiscard]] Window2d window(const Size2d& default_stride) const;
  [[nodiscard]] const nlohmann::json& list(const char* key) const;
  [[noreturn]] void bad(const std::string& key, const std::string& expected, const std::string& got) const;

 private:
  [[nodiscard]] Index integer(const nlohmann::json& value, const std::string& field, Index least) const;

  const nlohmann::json& entry_;
  const std::string& file_;
  std::string field_;
};

}  // namespace mixcert::io
