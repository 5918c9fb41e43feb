// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reads what kernels and mean functions have in common: name(argument=number, argument=[number, ...]). Errors
// carry the place in the text, counted from 1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert::gp {

/// One argument of a family as the family declares it.
struct ArgumentSpec {
  std::string_view name;
  double fallback = 1.0;
  bool positive = true;  ///< then its logarithm is the parameter
  bool may_be_list = false;
};

/// One number for all coordinates, or a list with one for each.
struct Argument {
  Vector values;
  bool is_list = false;
};

/// In the order of the family's specs.
using Arguments = std::vector<Argument>;

/// A position in a text that moves forward.
class TextCursor {
 public:
  /// `what` names the text in errors: "kernel", "mean". Too long a text is refused.
  TextCursor(std::string_view text, std::string what);

  /// Skips blanks; true, and past it, when the next character is `symbol`.
  bool accept(char symbol);
  /// The same, but anything else is an error.
  void expect(char symbol, const std::string& expected);
  /// Letters, digits and underscores; empty when there are none.
  std::string_view word();
  double number();
  void expect_end(const std::string& expected);
  [[nodiscard]] std::size_t position() const { return position_; }
  [[noreturn]] void fail(std::size_t position, const std::string& expected) const;

 private:
  void skip_blanks();

  std::string_view text_;
  std::string what_;
  std::size_t position_ = 0;
};

/// Reads "(name=value, ...)" or nothing; missing arguments keep their defaults.
Arguments parse_arguments(TextCursor& cursor, const std::vector<ArgumentSpec>& specs);

/// "name(argument=value, ...)" with every argument.
std::string arguments_text(std::string_view name, const std::vector<ArgumentSpec>& specs,
                           const Arguments& arguments);

/// Throws InvalidArgument unless the list has one value for each of `dimension` coordinates.
void require_dimension(std::string_view name, const Argument& argument, Index dimension);

/// The value for each of `dimension` coordinates.
Vector per_coordinate(std::string_view name, const Argument& argument, Index dimension);

/// Positive arguments lie between these, so that squares and quotients of them are finite.
inline constexpr double kSmallestPositive = 1e-100;
inline constexpr double kLargestPositive = 1e100;

/// Throws InvalidArgument, naming the argument, unless the spec allows the value.
void require_value(const ArgumentSpec& spec, double value);

}  // namespace mixcert::gp
