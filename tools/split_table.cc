// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Writes src/quantize/split_table.inc to standard output: optimises a rule for every size and width
// below, proves its error from the very numbers it prints, and keeps those worth having.
// Theory: docs/theory/splitting.md (P.2).
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <vector>

#include "split_optimizer.h"
#include "split_prover.h"

namespace mixcert::tools {
namespace {

constexpr int kCellsPerWidth = 4000;
// Errors below this are as good as zero: more pieces of the same width are not looked for.
constexpr double kNegligible = 1e-6;
constexpr Index kSizes[] = {2, 3, 4, 5, 6, 7, 9, 11, 13, 17, 25, 33, 44, 64};
// Falling; optimised from the narrowest on, where the optimal quantizer is a good start.
constexpr double kWidths[] = {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05};

/// Whether `kept` has a rule that serves at least as well: no more pieces, no wider, no larger error.
bool is_dominated(const SplitRule& rule, const std::vector<SplitRule>& kept) {
  return std::any_of(kept.begin(), kept.end(), [&](const SplitRule& other) {
    return other.size() <= rule.size() && other.width <= rule.width && other.error <= rule.error;
  });
}

/// Rules of one size, widths below `end`, by rising width. A rule whose error exceeds its width is
/// left out: fewer, wider pieces are better there.
std::vector<SplitRule> rules_of_size(Index size, double end) {
  std::vector<SplitRule> rules;
  SplitRule previous;
  for (auto width = std::rbegin(kWidths); width != std::rend(kWidths) && *width < end; ++width) {
    previous = optimize_split(size, *width, previous);
    if (previous.error > *width) continue;
    SplitRule rule = previous;
    rule.error = prove_split_error(rule, kCellsPerWidth);
    if (rule.error > *width) continue;
    std::cerr << size << " pieces of width " << *width << ": estimate " << previous.error << ", proven "
              << rule.error << "\n";
    rules.push_back(rule);
  }
  return rules;
}

std::vector<SplitRule> all_rules() {
  std::vector<SplitRule> kept;
  double end = 1.0;  // from this width on, fewer pieces have a negligible error already
  for (const auto size : kSizes) {
    const std::vector<SplitRule> rules = rules_of_size(size, end);
    const auto first = static_cast<std::ptrdiff_t>(kept.size());
    for (const SplitRule& rule : rules) {
      if (rule.error <= kNegligible) end = std::min(end, rule.width);
      if (!is_dominated(rule, kept)) kept.insert(kept.begin() + first, rule);
    }
  }
  return kept;
}

/// Seventeen digits, which determine a double.
void print_numbers(const Vector& numbers) {
  for (Index i = 0; i < numbers.size(); ++i) {
    std::printf("%.17g,%c", numbers(i), i % 4 == 3 || i + 1 == numbers.size() ? '\n' : ' ');
  }
}

void print(const SplitRule& rule) {
  const Index half = (rule.size() + 1) / 2;
  std::printf("%d, %.17g, %.17g,\n", static_cast<int>(rule.size()), rule.width, rule.error);
  print_numbers(rule.centers.tail(half));
  print_numbers(rule.weights.tail(half));
}

}  // namespace
}  // namespace mixcert::tools

int main() {
  std::puts("// Licensed under the Apache License, Version 2.0; see LICENSE.");
  std::puts("//");
  std::puts("// Written by tools/split_table.cc, not by hand: docs/theory/splitting.md (P.2).");
  std::puts("// Per rule: size, width, error, nonnegative centers, their weights.");
  for (const auto& rule : mixcert::tools::all_rules()) mixcert::tools::print(rule);
}
