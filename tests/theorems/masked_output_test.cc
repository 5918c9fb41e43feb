// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (D.7) against enumerated masks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "theorems/masked_cases.h"

namespace mixcert::testing {
namespace masked_output_test {

TEST(LatticeLaw, BoundsAreNoLessThanExactDistancesAndClose) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) expect_bound_of_sum(seed, 1.0);
}

TEST(LatticeLaw, DoesNotDependOnUnits) {
  for (const double scale : {1e-300, 1e-200, 1e-160, 1e-5, 1e160, 1e200, 1e290}) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) expect_bound_of_sum(seed * 7, scale);
  }
}

/// Powers of two change nothing but the exponent.
TEST(LatticeLaw, HasTheSameDigitsInEveryUnit) {
  const MaskedCase one(5, 1.0), other(5, 0x1.0p-400);
  const LatticeLaw law = lattice_law(one.sum), small = lattice_law(other.sum);
  EXPECT_EQ(law.points.below, small.points.below);
  EXPECT_EQ(law.exponent - 400, small.exponent);
  EXPECT_EQ(std::ldexp(distance_to_gaussians(law, one.mixture).nominal, -400),
            distance_to_gaussians(small, other.mixture).nominal);
}

TEST(LatticeLaw, IsTheLawOfEquallySpacedContributions) {
  // 1, 1 and 2 at rate 1/2: kept contributions are 2, 2 and 4.
  const LatticeLaw law = lattice_law({Vector{{1.0, -1.0, 2.0}}, 0.5});
  const auto below = [&](double x) {
    const double at = (std::ldexp(x, -law.exponent) - law.points.first) / law.points.step;
    return law.points.below[static_cast<std::size_t>(std::lround(at))];
  };
  // -2, 0, 0 or 2, each with and without 4, less the mean 2.
  EXPECT_EQ(below(-4.0), 0.125);
  EXPECT_EQ(below(-2.0), 0.375);
  EXPECT_EQ(below(0.0), 0.625);
  EXPECT_EQ(below(2.0), 0.875);
  EXPECT_EQ(below(4.0), 1.0);
  EXPECT_LT(law.offset, 1e-12);
}

/// Far fewer points than contributions need: bounds grow, and still hold.
TEST(LatticeLaw, CoarsePointsMakeLargerBounds) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const MaskedCase one(seed, 1.0);
    const double coarse = distance_to_gaussians(lattice_law(one.sum, {8, 20}), one.mixture).upper;
    EXPECT_GE(coarse, one.truth() * (1.0L - 1e-15L));
    EXPECT_LE(coarse, static_cast<double>(one.truth()) + one.deviation() + 2e-3 * one.size() + 1e-15);
  }
}

TEST(LatticeLaw, EveryPointOfTheSumIsNearOneOfItsPoints) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const MaskedCase one(seed, 1.0);
    const LatticeLaw law = lattice_law(one.sum);
    const double offset = std::ldexp(law.offset + 1e-6 * law.points.step, law.exponent);
    const std::vector<long double> contributions(one.sum.contributions.begin(), one.sum.contributions.end());
    const Atoms atoms = enumerated_sum(contributions, one.sum.rate, -one.sum.contributions.sum());
    long double level = 0.0L;
    const auto below = [&](long double x) {
      const double at =
          (static_cast<double>(std::ldexp(x, -law.exponent)) - law.points.first) / law.points.step;
      if (at < 0.0) return 0.0;
      return law.points.below[std::min(static_cast<std::size_t>(at), law.points.below.size() - 1)];
    };
    for (std::size_t k = 0; k < atoms.points.size(); ++k) {
      const long double before = level;
      level += atoms.masses[k];
      EXPECT_LE(below(atoms.points[k] - offset), before + 1e-12L);
      EXPECT_GE(below(atoms.points[k] + offset), level - 1e-12L);
    }
  }
}

TEST(LatticeLaw, HasNoBoundOfWhatIsNoNumber) {
  const LineGaussians normal{{1.0}, {0.0}, {1.0}};
  EXPECT_EQ(distance_to_gaussians(lattice_law({Vector{{1.0, NAN}}, 0.5}), normal).upper, INFINITY);
  EXPECT_EQ(distance_to_gaussians(lattice_law({Vector{{1.0, INFINITY}}, 0.5}), normal).upper, INFINITY);
  const LatticeLaw law = lattice_law({Vector{{1.0, 2.0}}, 0.5});
  EXPECT_EQ(distance_to_gaussians(law, {{1.0}, {NAN}, {1.0}}).upper, INFINITY);
  EXPECT_EQ(distance_to_gaussians(law, {{1.0}, {0.0}, {INFINITY}}).upper, INFINITY);
  // Far away, and far wider: a distance is found at once.
  EXPECT_GE(distance_to_gaussians(law, {{0.5, 0.5}, {-1e25, 1e25}, {1.0, 1.0}}).upper, 1e25 * (1.0 - 1e-9));
  EXPECT_GE(distance_to_gaussians(law, {{1.0}, {0.0}, {1e100}}).upper, 1e100 * (1.0 - 1e-9));
  EXPECT_GE(distance_to_gaussians(lattice_law({Vector::Zero(3), 0.5}), normal).upper, 1.0);
}

TEST(MaskedOutput, BoundsOfNetworksAreNoLessThanExactDistances) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) expect_bound_of_network(seed, 1.0, 0.3);
}

TEST(MaskedOutput, ExtremeScalesAndBiases) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    for (const double scale : {1e-200, 1e-160, 1e-80, 1e-20, 1e12}) expect_bound_of_network(seed, scale, 0.0);
    for (const double bias : {1e10, -1e25}) expect_bound_of_network(seed, 1.0, bias);
  }
}

TEST(MaskedOutput, GaussianWeightsAndNeuronsBesideMasks) {
  std::map<std::string, int> used;
  for (std::uint64_t seed = 0; seed < 60; ++seed) ++used[expect_bound_with_noise(seed)];
  EXPECT_GE(used["D.7"], 5);
  EXPECT_GE(used["D.8"], 5);
}

/// The coupling of masks one by one is several times the distance, the computed law is not.
TEST(MaskedOutput, RegressionNetworksAreFarBelowTheCoupling) {
  const double rates[] = {0.5, 0.25, 0.1}, wanted[] = {5.0, 4.0, 2.9};
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> factors;
    for (std::uint64_t seed = 0; seed < 9; ++seed) {
      SCOPED_TRACE(seed);
      const RegressionBounds bounds = regression_bounds(seed, rates[i]);
      EXPECT_LE(bounds.one, 1.05 * bounds.least);
      EXPECT_LE(bounds.fitted, bounds.one);
      factors.push_back(bounds.coupled / bounds.one);
      std::printf("rate %.2f: %.4f coupled, %.4f computed, %.4f at least, %.4f fitted, %.1f ms\n", rates[i],
                  bounds.coupled, bounds.one, bounds.least, bounds.fitted, bounds.milliseconds);
    }
    std::sort(factors.begin(), factors.end());
    EXPECT_GE(factors[4], wanted[i]);
  }
}

}  // namespace masked_output_test
}  // namespace mixcert::testing
