// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reads the table of splitting rules, which holds the nonnegative half of each symmetric rule.
// The errors are proven by the program that writes the table: docs/theory/splitting.md (P.2).
#include "quantize/split_rule.h"

#include <cstddef>
#include <iterator>
#include <utility>

namespace mixcert {
namespace {

// Per rule: size, width, error, then the ceil(size/2) nonnegative centers, increasing, then their weights.
constexpr double kSplitTable[] = {
#include "quantize/split_table.inc"
};

/// One rule from its entry, mirrored: negation is exact, so the rule is exactly symmetric.
SplitRule read_rule(const double* entry) {
  const auto size = static_cast<Index>(entry[0]);
  const Index half = (size + 1) / 2;
  const double* centers = entry + 3;
  const double* weights = centers + half;
  SplitRule rule{Vector(size), Vector(size), entry[1], entry[2]};
  for (Index i = 0; i < half; ++i) {
    const Index right = size - half + i;
    const Index left = half - 1 - i;
    rule.centers(left) = -centers[i];
    rule.centers(right) = centers[i];
    rule.weights(left) = rule.weights(right) = weights[i];
  }
  return rule;
}

std::vector<SplitRule> read_table() {
  std::vector<SplitRule> rules;
  for (const double* entry = std::begin(kSplitTable); entry != std::end(kSplitTable);) {
    rules.push_back(read_rule(entry));
    entry += 3 + 2 * ((rules.back().size() + 1) / 2);
  }
  return rules;
}

}  // namespace

const std::vector<SplitRule>& split_rules() {
  static const std::vector<SplitRule> rules = read_table();
  return rules;
}

}  // namespace mixcert
