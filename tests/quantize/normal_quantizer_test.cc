// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Quantizers of N(0,1) against fifty-digit closed forms, the published distortions, the
// Panter-Dite limit and the paper's rate of the uniform grid.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <cmath>
#include <numbers>
#include <thread>
#include <vector>

#include "mixcert/core/error.h"
#include "quantize/signature.h"
#include "support/high_precision.h"
#include "support/matchers.h"

namespace mixcert {
namespace normal_quantizer_test {

using testing::Precise;
using testing::Tolerance;

/// Errors of the stored locations and cells, in fifty digits; by symmetry only cells from the
/// middle on are visited.
struct PreciseQuantizer {
  Precise distortion = 0;
  Precise mean_distance = 0;
  double residual = 0.0;           // max |c_i - E[Z | cell i]|
  double probability_error = 0.0;  // max relative error of the stored probabilities
};

/// P(Z > x) and phi(x), each evaluated once per point.
struct End {
  Precise x, tail, density;
  explicit End(double value) : x(value) {
    tail = std::isinf(value) ? Precise(0) : testing::precise_tail(x);
    density = std::isinf(value) ? Precise(0) : testing::precise_density(x);
  }
};

/// E[Z - c; low < Z <= high].
Precise mean_about(const Precise& c, const End& low, const End& high) {
  return low.density - high.density - c * (low.tail - high.tail);
}

/// E[(Z - c)^2; low < Z <= high].
Precise square_about(const Precise& c, const End& low, const End& high) {
  const Precise outer = isinf(high.x) ? Precise(0) : Precise((high.x - 2 * c) * high.density);
  return (1 + c * c) * (low.tail - high.tail) + (low.x - 2 * c) * low.density - outer;
}

void visit_cell(const NormalQuantizer& q, Index i, const End& low, const End& high,
                PreciseQuantizer& result) {
  const End center(q.locations(i));
  const Precise& c = center.x;
  const Precise mass = low.tail - high.tail;
  const Precise residual = mean_about(c, low, high) / mass;
  result.residual = std::max(result.residual, std::abs(static_cast<double>(residual)));
  const int copies = 2 * i + 1 == q.size() ? 1 : 2;
  result.distortion += copies * square_about(c, low, high);
  result.mean_distance += copies * (mean_about(c, center, high) - mean_about(c, low, center));
  const auto error = static_cast<double>(abs(Precise(q.probabilities(i)) / mass - 1));
  result.probability_error = std::max(result.probability_error, error);
}

PreciseQuantizer examine(const NormalQuantizer& q) {
  PreciseQuantizer result;
  if (q.size() == 1) return {1, sqrt(2 / boost::math::constants::pi<Precise>()), 0.0, 0.0};
  End low(q.boundaries(q.size() / 2));
  for (Index i = q.size() / 2; i < q.size(); ++i) {
    const End high(q.boundaries(i + 1));
    visit_cell(q, i, low, high, result);
    low = high;
  }
  return result;
}

void expect_well_formed(const NormalQuantizer& q, Index size) {
  ASSERT_EQ(q.size(), size);
  ASSERT_EQ(q.boundaries.size(), size + 1);
  EXPECT_EQ(q.boundaries(0), -INFINITY);
  EXPECT_EQ(q.boundaries(size), INFINITY);
  EXPECT_TRUE(testing::is_probability_vector(q.probabilities));
  for (Index i = 0; i < size; ++i) {
    EXPECT_EQ(q.locations(i), -q.locations(size - 1 - i));
    EXPECT_LT(q.boundaries(i), q.boundaries(i + 1));
    EXPECT_LE(q.boundaries(i), q.locations(i));
    EXPECT_LE(q.locations(i), q.boundaries(i + 1));
    if (i > 0) {
      const double middle = 0.5 * (q.locations(i - 1) + q.locations(i));
      EXPECT_NEAR(q.boundaries(i), middle, 4e-16 * std::abs(middle));
    }
  }
}

class Quantizer : public ::testing::TestWithParam<Index> {};

TEST_P(Quantizer, IsStationaryWithExactErrorsRoundedUp) {
  for (const NormalQuantizer* q : {&optimal_quantizer(GetParam()), &uniform_quantizer(GetParam())}) {
    expect_well_formed(*q, GetParam());
    const PreciseQuantizer exact = examine(*q);
    EXPECT_TRUE(q == &uniform_quantizer(GetParam()) || exact.residual <= Tolerance::quantizer)
        << exact.residual;
    EXPECT_TRUE(testing::is_close(q->distortion.nominal, static_cast<double>(exact.distortion), 1e-12));
    EXPECT_GE(Precise(q->distortion.upper), exact.distortion);
    EXPECT_LE(q->distortion.upper, q->distortion.nominal * (1.0 + 1e-9));
    EXPECT_TRUE(testing::is_close(q->mean_distance.nominal, static_cast<double>(exact.mean_distance), 1e-12));
    EXPECT_GE(Precise(q->mean_distance.upper), exact.mean_distance);
    EXPECT_LE(q->mean_distance.upper, q->mean_distance.nominal * (1.0 + 1e-8));
    EXPECT_LE(q->mean_distance.nominal, std::sqrt(q->distortion.nominal));
    // What the rounding theory assumes of probabilities, (R.6).
    EXPECT_LE(exact.probability_error, 256 * kUnitRoundoff);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Quantizer, ::testing::Values(1, 2, 3, 4, 10, 37, 100, 1000, 10000));

TEST(OptimalQuantizer, MatchesThePublishedDistortions) {
  const std::vector<double> known = {.3634, .1902, .1175, .0799, .0580, .0440, .0345, .0279, .0229};
  for (std::size_t i = 0; i < known.size(); ++i) {
    EXPECT_NEAR(optimal_quantizer(static_cast<Index>(i) + 2).distortion.nominal, known[i], 5.1e-5);
  }
  EXPECT_NEAR(optimal_quantizer(1).distortion.nominal, 1.0, 1e-15);
  EXPECT_NEAR(optimal_quantizer(2).locations(1), std::sqrt(2.0 / std::numbers::pi), 1e-14);
  EXPECT_NEAR(optimal_quantizer(2).distortion.nominal, 1.0 - 2.0 / std::numbers::pi, 1e-14);
}

TEST(OptimalQuantizer, DistortionFallsStrictlyAndIsNoWorseThanUniform) {
  for (Index n = 1; n < 400; ++n) {
    EXPECT_LT(optimal_quantizer(n + 1).distortion.upper, optimal_quantizer(n).distortion.nominal) << n;
    EXPECT_LE(optimal_quantizer(n).distortion.nominal,
              uniform_quantizer(n).distortion.nominal * (1.0 + 1e-12))
        << n;
  }
}

TEST(OptimalQuantizer, ApproachesPanterAndDite) {
  const double limit = std::sqrt(3.0) * std::numbers::pi / 2.0;
  double previous = INFINITY;
  for (const Index n : {10, 100, 1000, 10000}) {
    const double size = static_cast<double>(n);
    const double gap = std::abs(size * size * optimal_quantizer(n).distortion.nominal - limit);
    EXPECT_LT(gap, previous);
    previous = gap;
  }
  EXPECT_LT(previous, 2e-3);
}

TEST(UniformQuantizer, HasThePapersLocationsAndRate) {
  EXPECT_EQ(uniform_quantizer(1).locations(0), 0.0);
  EXPECT_EQ(uniform_quantizer_rate(1), 1.0);
  for (Index n = 2; n <= 2000; ++n) {
    const double size = static_cast<double>(n);
    const double log_n = std::log(size);
    const double rate = 4.0 * log_n / (size * size) + 4.0 /
                                                          (size * size * std::sqrt(2.0 * std::numbers::pi)) *
                                                          (std::sqrt(log_n) + 0.25 / std::sqrt(log_n));
    EXPECT_NEAR(uniform_quantizer_rate(n), rate, 1e-13 * rate);
    const NormalQuantizer& q = uniform_quantizer(n);
    EXPECT_LE(q.distortion.upper, uniform_quantizer_rate(n)) << n;
    EXPECT_NEAR(q.locations(n - 1), 2.0 * std::sqrt(log_n) / size * (size - 1.0), 1e-14 * q.locations(n - 1));
  }
}

TEST(Quantizers, RefuseBadSizes) {
  for (const Index size : {Index{0}, Index{-1}, kMaxQuantizerSize + 1}) {
    EXPECT_THROW(optimal_quantizer(size), InvalidArgument);
    EXPECT_THROW(uniform_quantizer(size), InvalidArgument);
    EXPECT_THROW(uniform_quantizer_rate(size), InvalidArgument);
  }
}

TEST(Quantizers, AreMadeOnceEvenFromSeveralThreads) {
  std::vector<const NormalQuantizer*> seen(8, nullptr);
  {
    std::vector<std::jthread> threads;
    for (auto& slot : seen) threads.emplace_back([&slot] { slot = &optimal_quantizer(777); });
  }
  for (const NormalQuantizer* q : seen) EXPECT_EQ(q, seen.front());
}

}  // namespace normal_quantizer_test
}  // namespace mixcert
