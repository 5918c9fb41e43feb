// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The grammar of calls: blanks anywhere between words, arguments by name, each at most once.
#include "gp/call_parser.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"

namespace mixcert::gp {
namespace {

constexpr std::size_t kLongestList = 4096;

/// All of "1.5x" is taken for a number, and refused as one.
bool is_number_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '+' || c == '-';
}

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
  const auto value = parse_number<double>(cursor.take_while(is_number_part));
  if (!value || !std::isfinite(*value)) cursor.fail(start, "a finite number");
  if (!is_allowed(spec, *value)) cursor.fail(start, allowed_values(spec) + " for " + std::string(spec.name));
  return *value;
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
