// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reads what kernels and mean functions have in common: name(argument=number, argument=[number, ...]), with
// blanks anywhere between.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/text_cursor.h"
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

/// Most characters of a kernel or a mean function.
inline constexpr std::size_t kLongestText = 100000;

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
