// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Confidence bounds of means: the quantile against the integral it inverts, and how often the bound fails on
// skewed laws.
#include "statistics/mean_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "support/random_laws.h"

namespace mixcert {
namespace mean_bound_test {

/// P(T > x) by its definition: with x = sqrt(freedom) tan(angle) the density is a power of the cosine.
double student_tail(double x, Index freedom) {
  const auto power = static_cast<double>(freedom - 1);
  constexpr int kSteps = 20000;
  const auto integral = [&](double from, double to) {
    double sum = 0.0;
    for (int i = 0; i < kSteps; ++i) {
      sum += std::pow(std::cos(from + (to - from) * (i + 0.5) / kSteps), power);
    }
    return sum * (to - from) / kSteps;
  };
  const double end = std::acos(0.0);
  return 0.5 * integral(std::atan(x / std::sqrt(static_cast<double>(freedom))), end) / integral(0.0, end);
}

TEST(StudentQuantileBound, IsAboveTheQuantileAndCloseToIt) {
  for (const double tail : {1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.4}) {
    for (const Index freedom : {1, 2, 5, 20, 63, 99, 1000}) {
      const double bound = student_quantile_bound(tail, freedom);
      EXPECT_LE(student_tail(bound, freedom), tail * (1.0 + 1e-6))
          << "tail " << tail << ", freedom " << freedom;
      if (freedom >= 20) {
        EXPECT_GE(student_tail(0.99 * bound, freedom), tail) << "tail " << tail << ", freedom " << freedom;
      }
    }
  }
  EXPECT_EQ(student_quantile_bound(0.7, 10), 0.0);
}

struct SkewedLaw {
  const char* name;
  double mean;
  std::function<double(double)> of_normal;
};

class MeanBoundOf : public ::testing::TestWithParam<SkewedLaw> {};

TEST_P(MeanBoundOf, FailsNoMoreOftenThanSaid) {
  constexpr double kFailure = 0.01;
  constexpr Index kSamples = 1000;
  constexpr int kRepeats = 2000;
  int failures = 0;
  double excess = 0.0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Generator generator = make_generator(5, Stream::Example, static_cast<std::uint64_t>(repeat));
    const Vector values = testing::random_matrix(generator, kSamples, 1).unaryExpr(GetParam().of_normal);
    const MeanBound bound = mean_upper_bound(values, kFailure);
    failures += bound.upper < GetParam().mean ? 1 : 0;
    excess += (bound.upper - bound.mean) / bound.standard_error / kRepeats;
  }
  // Three standard deviations above what is promised.
  EXPECT_LE(failures, kRepeats * kFailure + 3.0 * std::sqrt(kRepeats * kFailure));
  // Not more than twice what a normal law would need.
  EXPECT_LE(excess, 2.0 * 2.33);
}

INSTANTIATE_TEST_SUITE_P(
    Laws, MeanBoundOf,
    ::testing::Values(SkewedLaw{"Square", 1.0, [](double z) { return z * z; }},
                      SkewedLaw{"FourthPower", 3.0, [](double z) { return z * z * z * z; }},
                      SkewedLaw{"LogNormal", std::exp(0.5), [](double z) { return std::exp(z); }},
                      SkewedLaw{"LeftSkewed", -1.0, [](double z) { return -z * z; }}),
    [](const auto& test) { return test.param.name; });

TEST(MeanBound, ConstantsHaveNoError) {
  const MeanBound bound = mean_upper_bound(Vector::Constant(300, 2.5), 1e-6);
  EXPECT_EQ(bound.mean, 2.5);
  EXPECT_EQ(bound.upper, 2.5);
  EXPECT_EQ(bound.batches, 100);
}

TEST(MeanBound, GrowsAsTheFailureProbabilityFalls) {
  Generator generator = make_generator(3, Stream::Example);
  const Vector values = testing::random_matrix(generator, 500, 1).cwiseAbs2();
  double before = values.mean();
  for (const double failure : {0.5, 0.1, 1e-3, 1e-6, 1e-12, 1e-100}) {
    const double upper = mean_upper_bound(values, failure).upper;
    EXPECT_GE(upper, before) << failure;
    before = upper;
  }
}

TEST(MeanBound, RefusesWhatHasNoAnswer) {
  EXPECT_THROW(mean_upper_bound(Vector::Ones(1), 0.01), InvalidArgument);
  EXPECT_THROW(mean_upper_bound(Vector::Ones(10), 0.0), InvalidArgument);
  EXPECT_THROW(mean_upper_bound(Vector::Ones(10), 1.0), InvalidArgument);
  EXPECT_THROW(mean_upper_bound(Vector::Constant(10, std::numeric_limits<double>::infinity()), 0.1),
               InvalidArgument);
}

}  // namespace mean_bound_test
}  // namespace mixcert
