// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "box_flag.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/io/input_file.h"

namespace mixcert::cli {
namespace {

/// "-1,1"; nothing where it is something else.
std::optional<std::pair<double, double>> ends_of(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return std::nullopt;
  const auto lower = parse_number<double>(text.substr(0, comma));
  const auto upper = parse_number<double>(text.substr(comma + 1));
  if (!lower || !upper) return std::nullopt;
  return std::pair{*lower, *upper};
}

}  // namespace

bool is_box_file(const std::string& text) { return !ends_of(text); }

InputBox read_box(const std::string& text, Index features, const ReadLimits& limits) {
  if (const auto ends = ends_of(text))
    return {Vector::Constant(features, ends->first), Vector::Constant(features, ends->second)};
  if (!std::filesystem::exists(text)) bad_option("box", "two numbers LO,HI, or a file of two rows", text);
  InputFile file = read_input_file(text, limits);
  require(file.noise.is_none(), "option --box: expected ends of a box, got inputs with a law in " + text);
  if (file.inputs.cols() != 2)
    throw FileError(fmt::format("{}: a box: expected two rows, the lower ends and the upper ones, got {}",
                                text, file.inputs.cols()));
  return {file.inputs.col(0), file.inputs.col(1)};
}

}  // namespace mixcert::cli
