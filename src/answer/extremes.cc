// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "mixcert/answer/extremes.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "mixcert/core/error.h"

namespace mixcert {
namespace {

/// The place of the smallest value, by `get`; the first of equal ones.
template <class Get>
std::size_t place_of_least(const std::vector<Interval>& cells, const Get& get) {
  const auto least = std::min_element(cells.begin(), cells.end(),
                                      [&](const Interval& a, const Interval& b) { return get(a) < get(b); });
  return static_cast<std::size_t>(least - cells.begin());
}

double lower_of(const Interval& range) { return range.lower; }
double upper_of(const Interval& range) { return range.upper; }
double estimate_of(const Interval& range) { return range.estimate; }
/// The least of -x is the largest of x.
Interval mirrored(const Interval& range) { return {-range.estimate, -range.upper, -range.lower}; }

/// The range of the least value: some input of the cell with the smallest upper end is no larger than that.
Interval range_of_least(const std::vector<Interval>& cells) {
  return {cells[place_of_least(cells, estimate_of)].estimate, cells[place_of_least(cells, lower_of)].lower,
          cells[place_of_least(cells, upper_of)].upper};
}

}  // namespace

Extremes extremes(std::string name, const std::vector<Interval>& cells) {
  require(!cells.empty(), "extremes: expected the ranges of one cell at least, got none");
  std::vector<Interval> turned;
  std::transform(cells.begin(), cells.end(), std::back_inserter(turned), mirrored);
  return {std::move(name), range_of_least(cells), mirrored(range_of_least(turned)),
          static_cast<Index>(place_of_least(cells, lower_of)),
          static_cast<Index>(place_of_least(turned, lower_of))};
}

std::vector<Extremes> all_extremes(const std::vector<LawAnswers>& cells,
                                   const std::vector<std::string>& statements) {
  std::vector<Extremes> all;
  if (cells.empty()) return all;
  const auto add = [&](const std::string& name, const auto& get) {
    std::vector<Interval> ranges;
    std::transform(cells.begin(), cells.end(), std::back_inserter(ranges), get);
    all.push_back(extremes(name, ranges));
  };
  for (std::size_t k = 0; k < cells.front().moments.means.size(); ++k) {
    const std::string output = "y" + std::to_string(k);
    add("mean of " + output, [k](const LawAnswers& cell) { return cell.moments.means[k]; });
    add("deviation of " + output, [k](const LawAnswers& cell) { return cell.moments.deviations[k]; });
  }
  for (std::size_t s = 0; s < statements.size(); ++s)
    add("P(" + statements[s] + ")", [s](const LawAnswers& cell) { return cell.probabilities[s].interval; });
  return all;
}

double sampled_failure(const LawAnswers& cell, const AnswerOptions& options) {
  const bool is_sampled =
      cell.classes || std::any_of(cell.probabilities.begin(), cell.probabilities.end(),
                                  [](const ProbabilityAnswer& one) { return one.failure_probability > 0.0; });
  return is_sampled ? options.failure_probability : 0.0;
}

Index common_class(const std::vector<LawAnswers>& cells) {
  if (cells.empty() || !cells.front().classes) return -1;
  const Index first = cells.front().classes->predicted;
  const bool is_common = std::all_of(cells.begin(), cells.end(), [&](const LawAnswers& cell) {
    return cell.classes && cell.classes->settled && cell.classes->predicted == first;
  });
  return is_common ? first : -1;
}

}  // namespace mixcert
