// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The grammar of calls: blanks anywhere between words, arguments by name, each at most once.
#include "gp/call_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"

namespace mixcert::gp {
namespace {

constexpr std::size_t kLongestText = 100000;
constexpr std::size_t kLongestList = 4096;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_number_part(char c) { return is_word(c) || c == '.' || c == '+' || c == '-'; }

std::string names_of(const std::vector<ArgumentSpec>& specs) {
  std::string names;
  for (const ArgumentSpec& spec : specs) names += (names.empty() ? "" : ", ") + std::string(spec.name);
  return names;
}

std::string allowed_values(const ArgumentSpec& spec) {
  if (!spec.positive) return "a finite number below " + format_number(kLargestPositive);
  return "a number in " + format_number(kSmallestPositive) + ".." + format_number(kLargestPositive);
}

bool is_allowed(const ArgumentSpec& spec, double value) {
  const double smallest = spec.positive ? kSmallestPositive : -kLargestPositive;
  return value >= smallest && value <= kLargestPositive;
}

double checked_number(TextCursor& cursor, const ArgumentSpec& spec) {
  const std::size_t start = cursor.position();
  const double value = cursor.number();
  if (!is_allowed(spec, value)) cursor.fail(start, allowed_values(spec) + " for " + std::string(spec.name));
  return value;
}

Argument parse_value(TextCursor& cursor, const ArgumentSpec& spec) {
  const std::size_t start = cursor.position();
  if (!cursor.accept('[')) return {Vector::Constant(1, checked_number(cursor, spec)), false};
  if (!spec.may_be_list) cursor.fail(start, "one number for " + std::string(spec.name) + ", not a list");
  std::vector<double> values;
  do {
    if (values.size() == kLongestList) {
      cursor.fail(start, "a list of at most " + std::to_string(kLongestList) + " numbers");
    }
    values.push_back(checked_number(cursor, spec));
  } while (cursor.accept(','));
  cursor.expect(']', "',' or ']'");
  return {Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())), true};
}

}  // namespace

TextCursor::TextCursor(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {
  require(text.size() <= kLongestText, what_ + ": expected a text of at most " +
                                           std::to_string(kLongestText) + " characters, got " +
                                           std::to_string(text.size()));
}

void TextCursor::fail(std::size_t position, const std::string& expected) const {
  constexpr std::size_t kShown = 20;
  std::string rest(text_.substr(std::min(position, text_.size()), kShown));
  std::replace_if(
      rest.begin(), rest.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  throw InvalidArgument(what_ + ": expected " + expected + " at character " + std::to_string(position + 1) +
                        ", got " + (rest.empty() ? "the end of the text" : "'" + rest + "'"));
}

void TextCursor::skip_blanks() {
  while (position_ < text_.size() && is_blank(text_[position_])) ++position_;
}

bool TextCursor::accept(char symbol) {
  skip_blanks();
  if (position_ == text_.size() || text_[position_] != symbol) return false;
  ++position_;
  skip_blanks();
  return true;
}

void TextCursor::expect(char symbol, const std::string& expected) {
  if (!accept(symbol)) fail(position_, expected);
}

std::string_view TextCursor::word() {
  skip_blanks();
  const std::size_t start = position_;
  while (position_ < text_.size() && is_word(text_[position_])) ++position_;
  return text_.substr(start, position_ - start);
}

double TextCursor::number() {
  skip_blanks();
  const std::size_t start = position_;
  while (position_ < text_.size() && is_number_part(text_[position_])) ++position_;
  const auto value = parse_number<double>(text_.substr(start, position_ - start));
  if (!value || !std::isfinite(*value)) fail(start, "a finite number");
  skip_blanks();
  return *value;
}

void TextCursor::expect_end(const std::string& expected) {
  skip_blanks();
  if (position_ != text_.size()) fail(position_, expected);
}

Arguments parse_arguments(TextCursor& cursor, const std::vector<ArgumentSpec>& specs) {
  Arguments arguments;
  for (const ArgumentSpec& spec : specs) arguments.push_back({Vector::Constant(1, spec.fallback), false});
  if (!cursor.accept('(') || cursor.accept(')')) return arguments;
  std::vector<bool> given(specs.size(), false);
  do {
    const std::size_t start = cursor.position();
    const std::string_view name = cursor.word();
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const auto& s) { return s.name == name; });
    if (spec == specs.end()) {
      cursor.fail(start, specs.empty() ? "')'" : "the name of an argument (" + names_of(specs) + ")");
    }
    const auto place = static_cast<std::size_t>(spec - specs.begin());
    if (given[place]) cursor.fail(start, std::string(name) + " at most once");
    given[place] = true;
    cursor.expect('=', "'='");
    arguments[place] = parse_value(cursor, *spec);
  } while (cursor.accept(','));
  cursor.expect(')', "',' or ')'");
  return arguments;
}

std::string arguments_text(std::string_view name, const std::vector<ArgumentSpec>& specs,
                           const Arguments& arguments) {
  std::string text = std::string(name) + "(";
  for (std::size_t i = 0; i < specs.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::string(specs[i].name) + "=" + (arguments[i].is_list ? "[" : "");
    for (Index j = 0; j < arguments[i].values.size(); ++j) {
      text += (j == 0 ? "" : ", ") + format_number(arguments[i].values(j));
    }
    text += arguments[i].is_list ? "]" : "";
  }
  return text + ")";
}

void require_dimension(std::string_view name, const Argument& argument, Index dimension) {
  require(!argument.is_list || argument.values.size() == dimension,
          std::string(name) + ": expected inputs with " + std::to_string(argument.values.size()) +
              " coordinates, one for each number of the list, got " + std::to_string(dimension));
}

Vector per_coordinate(std::string_view name, const Argument& argument, Index dimension) {
  require_dimension(name, argument, dimension);
  return argument.is_list ? argument.values : Vector::Constant(dimension, argument.values(0));
}

void require_value(const ArgumentSpec& spec, double value) {
  require(is_allowed(spec, value),
          std::string(spec.name) + ": expected " + allowed_values(spec) + ", got " + format_number(value));
}

}  // namespace mixcert::gp
