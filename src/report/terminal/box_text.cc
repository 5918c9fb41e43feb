// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What `mixcert answer` says of a whole box of inputs: the least and the largest value of each quantity, and
// in which cells they may be.
#include <fmt/format.h>

#include "report/terminal/text_report.h"

namespace mixcert {
namespace {

/// Of more features a cell is named by its number.
constexpr Index kNamedFeatures = 2;
/// Digits of a cell's ends: the edge of a cell is no bound.
constexpr int kCellDigits = 4;

std::string place_text(Index number, const InputBox& cell) {
  std::string text = std::to_string(number);
  if (cell.lower.size() > kNamedFeatures) return text;
  for (Index i = 0; i < cell.lower.size(); ++i) {
    text += fmt::format("{} x{} in [{}, {}]", i == 0 ? ":" : ",", i, significant(cell.lower(i), kCellDigits),
                        significant(cell.upper(i), kCellDigits));
  }
  return text;
}

}  // namespace

std::string box_text(const std::vector<Extremes>& all, bool classes, Index common, double failure,
                     const std::vector<InputBox>& cells) {
  const auto count = static_cast<Index>(cells.size());
  const TextTable table({{"over the whole box", 24}, {"value", 28}, {"in cell", 24}});
  std::string text =
      fmt::format("\nNo input of the box leaves these ranges ({}{})\n", counted(count, "cell"),
                  failure > 0.0 ? fmt::format("; but for probability {:.6g}, where integrals were sampled",
                                              failure * static_cast<double>(count))
                                : "") +
      table.header();
  const auto add = [&](const std::string& name, const Interval& range, Index cell) {
    text += table.row({name, interval_text(range), place_text(cell, cells[static_cast<std::size_t>(cell)])});
  };
  for (const Extremes& one : all) {
    add("least " + one.name, one.least, one.least_cell);
    add("largest " + one.name, one.greatest, one.greatest_cell);
  }
  if (!classes) return text;
  return text + (common >= 0 ? fmt::format("class {} is settled at every input of the box\n", common)
                             : "no class is settled at every input of the box\n");
}

}  // namespace mixcert
