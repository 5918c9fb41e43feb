// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "json.h"

#include <charconv>
#include <cmath>

namespace mixcert_check {
namespace {

bool is_digit(std::string_view text, std::size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

/// Of what std::from_chars has read as a number, which is .5, 5. and 05 too.
bool is_json_number(std::string_view text) {
  if (text.front() == '-') text.remove_prefix(1);
  if (!is_digit(text, 0) || (text[0] == '0' && is_digit(text, 1))) return false;
  const std::size_t point = text.find('.');
  return point == std::string_view::npos || is_digit(text, point + 1);
}

}  // namespace

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Json all() {
    Json made = value(0);
    skip();
    if (at_ != text_.size()) fail("expected the end");
    return made;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw BadFile("JSON, byte " + std::to_string(at_) + ": " + what);
  }
  void skip() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void take(char expected) {
    if (peek() != expected) fail(std::string("expected '") + expected + "'");
    ++at_;
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json value(int depth) {
    if (depth > 32) fail("nested too deeply");
    Json made;
    switch (peek()) {
      case '{':
        read_object(made, depth);
        break;
      case '[':
        read_list(made, depth);
        break;
      case '"':
        made.kind_ = Json::Kind::Text;
        made.text_ = read_text();
        break;
      default:
        read_plain(made);
    }
    return made;
  }

  void read_object(Json& made, int depth) {
    made.kind_ = Json::Kind::Object;
    take('{');
    while (peek() != '}') {
      if (!made.object_.empty()) take(',');
      if (peek() != '"') fail("expected a key");
      std::string key = read_text();
      take(':');
      if (!made.object_.emplace(std::move(key), value(depth + 1)).second) fail("a key is there twice");
    }
    take('}');
  }

  void read_list(Json& made, int depth) {
    made.kind_ = Json::Kind::List;
    take('[');
    while (peek() != ']') {
      if (!made.list_.empty()) take(',');
      made.list_.push_back(value(depth + 1));
    }
    take(']');
  }

  void read_plain(Json& made) {
    if (take_word("null")) return;
    if (take_word("true") || take_word("false")) {
      made.kind_ = Json::Kind::Boolean;
      return;
    }
    made.kind_ = Json::Kind::Number;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), made.number_);
    const bool is_read = error == std::errc() && std::isfinite(made.number_);
    if (!is_read || !is_json_number({first, end})) fail("expected a value");
    at_ += static_cast<std::size_t>(end - first);
  }

  std::string read_text() {
    take('"');
    std::string made;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("a control character in a text");
      made += text_[at_] == '\\' ? escaped() : text_[at_];
      ++at_;
    }
    if (at_ == text_.size()) fail("a text does not end");
    ++at_;
    return made;
  }

  char escaped() {
    constexpr std::string_view names = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    ++at_;
    const std::size_t place = at_ < text_.size() ? names.find(text_[at_]) : std::string_view::npos;
    if (place != std::string_view::npos) return meant[place];
    // Of the code points by number, those below 128: two texts must not become one.
    if (at_ + 4 >= text_.size() || text_[at_] != 'u') fail("an unknown escape");
    int code = 0;
    const char* first = text_.data() + at_ + 1;
    const auto [end, error] = std::from_chars(first, first + 4, code, 16);
    if (error != std::errc() || end != first + 4 || code < 0) fail("an unknown escape");
    at_ += 4;
    if (code > 127) fail("an escaped character beyond ASCII, which is not covered");
    return static_cast<char>(code);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Json Json::parse(std::string_view text) { return JsonReader(text).all(); }

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
