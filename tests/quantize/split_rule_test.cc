// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Splitting rules: every stored error against the distance integrated naively over x, the mixture
// inverted by bisection (the proof integrates over y); the shape of the rules;
// the prover where the distance is known, where the rule is bad, and once more on the table.
#include "quantize/split_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "mixcert/core/error.h"
#include "quantize/signature.h"
#include "split_prover.h"

namespace mixcert {
namespace split_rule_test {

using tools::prove_split_error;

/// W2(N(0,1), mixture): the midpoint rule, which converges geometrically here, on x in (0, 9.5).
double naive_distance(const SplitRule& rule) {
  const double spacing = rule.width / 32;
  const double total = rule.weights.sum();
  double sum = 0.0;
  double reached = 0.0;
  for (double x = spacing / 2; x < 9.5; x += spacing) {
    double low = reached;
    double high = rule.centers(rule.size() - 1) + rule.width * x + 1e-9;
    for (int step = 0; step < 46; ++step) {
      const double middle = 0.5 * (low + high);
      double tail = 0.0;
      for (Index i = 0; i < rule.size(); ++i) {
        tail += rule.weights(i) * std::erfc((middle - rule.centers(i)) / (rule.width * std::numbers::sqrt2));
      }
      (tail / total > std::erfc(x / std::numbers::sqrt2) ? low : high) = middle;
    }
    reached = low;
    const double distance = x - 0.5 * (low + high);
    sum += distance * distance * std::exp(-0.5 * x * x);
  }
  return std::sqrt(sum * spacing * std::sqrt(2.0 / std::numbers::pi));
}

std::vector<SplitRule> rules_of_size(Index size) {
  std::vector<SplitRule> rules;
  for (const SplitRule& rule : split_rules()) {
    if (rule.size() == size) rules.push_back(rule);
  }
  return rules;
}

SplitRule rule_of(std::vector<double> centers, std::vector<double> weights, double width) {
  const auto n = static_cast<Index>(centers.size());
  return {Eigen::Map<const Vector>(weights.data(), n), Eigen::Map<const Vector>(centers.data(), n), width,
          0.0};
}

class SplitRuleOfSize : public ::testing::TestWithParam<Index> {};

TEST_P(SplitRuleOfSize, ErrorIsNoLessThanTheDistanceAndHardlyMore) {
  const std::vector<SplitRule> rules = rules_of_size(GetParam());
  ASSERT_FALSE(rules.empty());
  for (const SplitRule& rule : rules) {
    const double distance = naive_distance(rule);
    EXPECT_GE(rule.error, distance) << rule.width;
    EXPECT_LE(rule.error, std::max(1.001 * distance, distance + 1e-7)) << rule.width;
  }
}

TEST_P(SplitRuleOfSize, IsSymmetricOrderedAndNormalised) {
  double previous_width = 1.0;
  for (const SplitRule& rule : rules_of_size(GetParam())) {
    ASSERT_EQ(rule.centers.size(), rule.weights.size());
    for (Index i = 0; i < rule.size(); ++i) {
      EXPECT_EQ(rule.centers(i), -rule.centers(rule.size() - 1 - i));
      EXPECT_EQ(rule.weights(i), rule.weights(rule.size() - 1 - i));
      EXPECT_GT(rule.weights(i), 0.0);
    }
    const Index n = rule.size();
    EXPECT_GT((rule.centers.tail(n - 1) - rule.centers.head(n - 1)).minCoeff(), 0.0);
    EXPECT_NEAR(rule.weights.sum(), 1.0, 1e-15);
    EXPECT_LT(rule.width, previous_width);
    EXPECT_LE(rule.error, rule.width);
    previous_width = rule.width;
  }
}

TEST_P(SplitRuleOfSize, IsBetterThanTheOptimalQuantizer) {
  const double quantizer = std::sqrt(optimal_quantizer(GetParam()).distortion.nominal);
  for (const SplitRule& rule : rules_of_size(GetParam())) EXPECT_LT(rule.error, quantizer) << rule.width;
}

TEST_P(SplitRuleOfSize, StoredErrorLiesJustBelowACoarserProof) {
  for (const SplitRule& rule : rules_of_size(GetParam())) {
    const double coarser = prove_split_error(rule, 500);
    EXPECT_LT(rule.error, coarser) << rule.width;
    EXPECT_LT(coarser, 1.01 * rule.error + 2e-6) << rule.width;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SplitRuleOfSize,
                         ::testing::Values<Index>(2, 3, 4, 5, 6, 7, 9, 11, 13, 17, 25, 33, 44, 64));

TEST(SplitRules, AreOrderedBySizeAndNoneIsDominated) {
  const std::vector<SplitRule>& rules = split_rules();
  EXPECT_TRUE(std::is_sorted(rules.begin(), rules.end(),
                             [](const SplitRule& a, const SplitRule& b) { return a.size() < b.size(); }));
  for (const SplitRule& a : rules) {
    for (const SplitRule& b : rules) {
      const bool dominated = a.size() <= b.size() && a.width <= b.width && a.error <= b.error;
      EXPECT_FALSE(&a != &b && dominated) << b.size() << " " << b.width;
    }
  }
}

/// Measured optima of an independent computation, rounded to nearest in the last digit shown.
TEST(SplitRules, ReachThePublishedOptima) {
  struct Optimum {
    Index size;
    double width, error, last_digit;
  };
  for (const Optimum& known :
       {Optimum{2, 0.8, .029, 1e-3}, {2, 0.7, .064, 1e-3},  {2, 0.6, .111, 1e-3},  {2, 0.5, .170, 1e-3},
        {2, 0.4, .242, 1e-3},        {3, 0.8, .0048, 1e-4}, {3, 0.7, .015, 1e-3},  {3, 0.6, .035, 1e-3},
        {3, 0.5, .066, 1e-3},        {3, 0.4, .112, 1e-3},  {3, 0.3, .175, 1e-3},  {5, 0.7, .0010, 1e-4},
        {5, 0.6, .0038, 1e-4},       {5, 0.5, .011, 1e-3},  {5, 0.4, .028, 1e-3},  {5, 0.3, .059, 1e-3},
        {9, 0.6, .0003, 1e-4},       {9, 0.5, .0007, 1e-4}, {9, 0.4, .0020, 1e-4}, {9, 0.3, .0082, 1e-4}}) {
    const std::vector<SplitRule> rules = rules_of_size(known.size);
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const SplitRule& candidate) {
      return candidate.width == known.width;
    });
    ASSERT_NE(rule, rules.end()) << known.size << " " << known.width;
    EXPECT_LE(rule->error, known.error + 0.5 * known.last_digit) << known.size << " " << known.width;
  }
}

/// One piece, or two at the same place, is N(0, h^2), at distance 1 - h.
TEST(SplitProver, BoundsKnownDistances) {
  for (const double width : {0.01, 0.1, 0.5, 0.9, 0.999}) {
    for (const SplitRule& rule : {rule_of({0.0}, {1.0}, width), rule_of({0.0, 0.0}, {0.5, 0.5}, width)}) {
      const double bound = prove_split_error(rule, 1000);
      EXPECT_GE(bound, 1.0 - width);
      EXPECT_LE(bound, 1.005 * (1.0 - width)) << width;
    }
  }
  EXPECT_LE(prove_split_error(rule_of({0.0}, {1.0}, 1.0), 4000), 1e-7);
}

/// Laws far from N(0,1): gaps without mass, a light far piece, nearly Dirac pieces.
TEST(SplitProver, BoundsBadRules) {
  for (const SplitRule& rule :
       {rule_of({-3.0, 3.0}, {0.5, 0.5}, 0.5), rule_of({-1.0, 0.0, 1.0}, {0.49, 0.02, 0.49}, 0.3),
        rule_of({-9.0, 0.0, 9.0}, {1e-9, 1.0 - 2e-9, 1e-9}, 0.9), rule_of({-0.8, 0.8}, {0.5, 0.5}, 0.2)}) {
    const double distance = naive_distance(rule);
    const double bound = prove_split_error(rule, 1000);
    EXPECT_GE(bound, 0.9999 * distance);
    EXPECT_LE(bound, 1.02 * distance);
  }
}

TEST(SplitProver, BoundGrowsWhenAStoredRuleIsDisturbed) {
  for (const SplitRule& rule : split_rules()) {
    if (rule.size() > 9 || rule.error < 1e-5) continue;
    SplitRule disturbed = rule;
    disturbed.centers *= 1.05;
    EXPECT_GT(prove_split_error(disturbed, 100), rule.error) << rule.size() << " " << rule.width;
  }
}

TEST(SplitProver, RefusesWhatItsErrorConstantsDoNotCover) {
  EXPECT_THROW(prove_split_error(rule_of({-1.0, 1.1}, {0.5, 0.5}, 0.5), 100), InvalidArgument);
  EXPECT_THROW(prove_split_error(rule_of({-1.0, 1.0}, {0.4, 0.6}, 0.5), 100), InvalidArgument);
  EXPECT_THROW(prove_split_error(rule_of({-1.0, 1.0}, {0.4, 0.4}, 0.5), 100), InvalidArgument);
  EXPECT_THROW(prove_split_error(rule_of({-11.0, 11.0}, {0.5, 0.5}, 0.5), 100), InvalidArgument);
  EXPECT_THROW(prove_split_error(rule_of({-1.0, 1.0}, {0.5, 0.5}, 0.001), 100), InvalidArgument);
  EXPECT_THROW(prove_split_error(rule_of({-1.0, 1.0}, {0.5, 0.5}, 0.5), 5000), InvalidArgument);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(prove_split_error(rule_of({-1.0, 1.0}, {0.5, 0.5}, nan), 100), InvalidArgument);
}

}  // namespace split_rule_test
}  // namespace mixcert
