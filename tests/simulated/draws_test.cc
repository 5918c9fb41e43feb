// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Normals with a proven error, and what draws prove about probabilities and means: against extended
// precision, exact binomial sums, and the moments of a normal law.
#include "simulated/draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "core/sample_limits.h"
#include "simulated/box_muller.h"

namespace mixcert {
namespace draws_test {

/// Both halves of a uniform number and an angle.
using Words = std::array<std::uint64_t, 3>;

/// The formula of (F.1) in extended precision.
std::array<double, 2> precise_pair(const Words& words) {
  const auto top = words[0] >> 63U;
  const long double small = std::ldexp(static_cast<long double>(words[0] & ~(std::uint64_t{1} << 63U)), -64) +
                            std::ldexp(static_cast<long double>(words[1]) + 0.5L, -128);
  const long double radius = std::sqrt(-2.0L * (top == 0 ? std::log(small) : std::log1p(-small)));
  // The middle of a cell of 2^-62 of a quarter turn, which begins an eighth of a turn back.
  const auto cell =
      static_cast<long double>((words[2] + (std::uint64_t{1} << 61U)) & ~(std::uint64_t{3} << 62U));
  const auto quarter = static_cast<long double>(words[2] >> 62U);
  const long double turns = quarter + std::ldexp(cell + 0.5L, -62) - 0.5L;
  const long double angle = 0.5L * std::numbers::pi_v<long double> * turns;
  return {static_cast<double>(radius * std::cos(angle)), static_cast<double>(radius * std::sin(angle))};
}

TEST(NormalDraws, AreWithinTheirErrorAlsoAtTheEnds) {
  std::mt19937_64 generator(1);
  std::vector<Words> cases;
  for (int i = 0; i < 20000; ++i) cases.push_back({generator(), generator(), generator()});
  // Uniforms near 0, 1/2 and 1, angles at the ends of quarters and of their halves.
  for (unsigned shift = 0; shift < 63; ++shift) {
    for (const std::uint64_t top : {std::uint64_t{0}, std::uint64_t{1} << 63U}) {
      for (std::uint64_t eighth = 0; eighth < 8; ++eighth) {
        for (const std::uint64_t off : {std::uint64_t{0}, ~std::uint64_t{0}, generator() >> 40U})
          cases.push_back({top | ((~top >> 1U) >> shift), generator(), (eighth << 61U) + off});
      }
    }
  }
  // Where the logarithm is reduced: x or 1 - x next to a power of two and to its product with sqrt(2).
  for (const double at : {0.25, 0.5 * std::numbers::sqrt2 - 0.25, 0.25 * std::numbers::sqrt2,
                          1.0 - 0.5 * std::numbers::sqrt2}) {
    for (int step = -40; step <= 40; ++step) {
      const auto high =
          static_cast<std::uint64_t>(std::ldexp(at, 64)) + static_cast<std::uint64_t>(step * 512);
      for (const std::uint64_t top : {std::uint64_t{0}, std::uint64_t{1} << 63U})
        cases.push_back({top | high, generator(), generator()});
    }
  }
  while (cases.size() % kNormalPairs != 0) cases.push_back({generator(), generator(), generator()});
  double largest = 0.0;
  for (std::size_t first = 0; first < cases.size(); first += kNormalPairs) {
    std::vector<std::uint64_t> words(kNormalWords);
    std::vector<double> normals(2 * kNormalPairs);
    for (std::size_t i = 0; i < kNormalPairs; ++i) {
      for (std::size_t part = 0; part < 3; ++part) words[part * kNormalPairs + i] = cases[first + i][part];
    }
    box_muller(words.data(), normals.data());
    for (std::size_t i = 0; i < kNormalPairs; ++i) {
      if ((cases[first + i][0] << 1U) == 0 && cases[first + i][1] < (std::uint64_t{1} << 48U))
        continue;  // lost
      const auto exact = precise_pair(cases[first + i]);
      largest = std::max(
          {largest, std::abs(normals[i] - exact[0]), std::abs(normals[kNormalPairs + i] - exact[1])});
    }
  }
  // The proof has 2.2e-14, of which 1.6e-15 is for the lattice, and this is about rounding alone.
  EXPECT_LE(largest, 2e-14);
  EXPECT_GT(largest, 1e-16);
}

TEST(NormalDraws, HaveTheMomentsOfANormalLaw) {
  RandomBits bits(3, DrawUse::Main, 0, 0);
  Matrix draws(400, 1000);
  fill_normals(bits, draws);
  const double n = static_cast<double>(draws.size());
  EXPECT_NEAR(draws.mean(), 0.0, 5.0 / std::sqrt(n));
  EXPECT_NEAR(draws.array().square().mean(), 1.0, 5.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(draws.array().pow(3).mean(), 0.0, 5.0 * std::sqrt(15.0 / n));
  EXPECT_NEAR(draws.array().pow(4).mean(), 3.0, 5.0 * std::sqrt(96.0 / n));
  const double pairs = n / 2.0;
  // A pair is a column of normals with the next one of the same number.
  const Eigen::Map<const Matrix> halves(draws.data(), kNormalPairs, draws.size() / kNormalPairs);
  double products = 0.0;
  for (Index i = 0; i + 1 < halves.cols(); i += 2) products += halves.col(i).dot(halves.col(i + 1));
  EXPECT_NEAR(products / pairs, 0.0, 5.0 / std::sqrt(pairs));
  EXPECT_LT(draws.maxCoeff(), 6.5);
}

TEST(RandomBits, DependOnSeedUseInputAndBlockAndOnNothingElse) {
  const auto first = [](std::uint64_t seed, DrawUse use, std::uint64_t input, std::uint64_t block) {
    RandomBits bits(seed, use, input, block);
    std::vector<std::uint64_t> words(40);
    bits.fill(words);
    return words;
  };
  const auto base = first(1, DrawUse::Main, 2, 3);
  EXPECT_EQ(base, first(1, DrawUse::Main, 2, 3));
  EXPECT_NE(base, first(0, DrawUse::Main, 2, 3));
  EXPECT_NE(base, first(1, DrawUse::Pilot, 2, 3));
  EXPECT_NE(base, first(1, DrawUse::Main, 3, 3));
  EXPECT_NE(base, first(1, DrawUse::Main, 2, 4));
  // In pieces or at once.
  RandomBits bits(1, DrawUse::Main, 2, 3);
  std::vector<std::uint64_t> half(20);
  bits.fill(half);
  bits.fill(half);
  EXPECT_EQ(half, std::vector<std::uint64_t>(base.begin() + 20, base.end()));
}

/// P(at most `hits` of n) for probability p, summed.
double binomial_below(Index hits, Index n, double p) {
  double sum = 0.0;
  const auto all = static_cast<double>(n);
  for (Index k = 0; k <= hits; ++k) {
    const auto some = static_cast<double>(k);
    sum += std::exp(std::lgamma(all + 1.0) - std::lgamma(some + 1.0) - std::lgamma(all - some + 1.0) +
                    some * std::log(p) + (all - some) * std::log1p(-p));
  }
  return sum;
}

TEST(Limits, OfProbabilitiesFailAsRarelyAsTheySay) {
  for (const Index n : {5, 40, 200}) {
    for (const double failure : {0.3, 0.01, 1e-6}) {
      for (const double p : {0.001, 0.02, 0.3, 0.5, 0.9}) {
        SCOPED_TRACE(p);
        double below = 0.0, above = 0.0;  // probabilities that a limit is wrong
        for (Index hits = 0; hits <= n; ++hits) {
          const double here = binomial_below(hits, n, p) - (hits > 0 ? binomial_below(hits - 1, n, p) : 0.0);
          if (largest_probability(hits, n, failure) < p) below += here;
          if (smallest_probability(hits, n, failure) > p) above += here;
        }
        EXPECT_LE(below, failure);
        EXPECT_LE(above, failure);
      }
      EXPECT_NEAR(largest_probability(0, n, failure), -std::expm1(std::log(failure) / static_cast<double>(n)),
                  1e-8);
      EXPECT_EQ(largest_probability(n, n, failure), 1.0);
      EXPECT_EQ(smallest_probability(0, n, failure), 0.0);
    }
  }
}

TEST(Limits, OfMeansFailAsRarelyAsTheySay) {
  std::mt19937_64 generator(5);
  const double failure = 0.05, p = 0.1;
  int wrong = 0;
  for (int run = 0; run < 4000; ++run) {
    const Index n = 60;
    double hits = 0.0;
    for (Index i = 0; i < n; ++i) hits += std::uniform_real_distribution<>()(generator) < p ? 1.0 : 0.0;
    const double mean = hits / static_cast<double>(n);
    const double variance = mean * (1.0 - mean) * static_cast<double>(n) / static_cast<double>(n - 1);
    if (largest_mean(mean, variance, 1.0, n, failure) < p) ++wrong;
  }
  EXPECT_LE(wrong, static_cast<int>(4000 * failure));
}

}  // namespace draws_test
}  // namespace mixcert
