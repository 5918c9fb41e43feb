// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The noise of weights behind masks against enumeration: docs/theory/mask-sums.md (D.16).
#include "theorems/masks/masked_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace mixcert {
namespace masked_noise_test {

/// E (S^{1/2} - (E S)^{1/2})^2 over all 2^n masks.
double enumerated(double rate, double least, const Vector& shares) {
  const double keep = 1.0 - rate, mean = least + shares.sum() / keep;
  double sum = 0.0;
  for (int masks = 0; masks < (1 << shares.size()); ++masks) {
    double probability = 1.0, s = least;
    for (Index j = 0; j < shares.size(); ++j) {
      const bool kept = ((masks >> j) & 1) == 1;
      probability *= kept ? keep : rate;
      if (kept) s += shares(j) / (keep * keep);
    }
    sum += probability * std::pow(std::sqrt(s) - std::sqrt(mean), 2.0);
  }
  return sum;
}

TEST(MaskedNoise, IsNeverBelowTheEnumeratedOne) {
  std::mt19937 random(9);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 80; ++round) {
    const Index n = 1 + round % 12;
    const double rates[] = {0.5, 0.1, 0.02, 0.7, 1e-6};
    const double rate = rates[round % 5];
    Vector shares(n);
    for (double& share : shares) share = std::pow(normal(random), 2.0);
    const double least = round % 3 == 0 ? 0.0 : 0.2 * shares.sum();
    const double exact = enumerated(rate, least, shares);
    for (const double work : {0.0, 1e7}) {
      const MaskedNoise noise = masked_noise(Mask::bernoulli(rate), least, shares, work);
      EXPECT_NEAR(noise.mean, least + shares.sum() / (1.0 - rate), 1e-12 * noise.mean);
      EXPECT_GE(noise.distance, exact * (1.0 - 1e-9)) << round;
      // The law is nearly exact where the noise is never small.
      if (work > 0.0 && least > 0.0 && rate < 0.6 && rate > 1e-3) {
        EXPECT_LE(noise.distance, 1.05 * exact + 1e-3 * noise.mean) << round;
      }
    }
  }
}

TEST(MaskedNoise, ScalesAndVanishes) {
  const Vector shares = Vector::LinSpaced(9, 0.5, 2.0);
  const Mask mask = Mask::bernoulli(0.25);
  const MaskedNoise one = masked_noise(mask, 0.1, shares, 1e6);
  EXPECT_GT(one.distance, 0.0);
  for (const int exponent : {-600, 600}) {
    const Vector scaled = shares.unaryExpr([=](double x) { return std::ldexp(x, exponent); });
    const MaskedNoise other = masked_noise(mask, std::ldexp(0.1, exponent), scaled, 1e6);
    EXPECT_EQ(std::ldexp(other.distance, -exponent), one.distance);
  }
  EXPECT_EQ(masked_noise(mask, 0.1, Vector::Zero(3), 1e6).distance, 0.0);
  EXPECT_EQ(masked_noise(mask, 0.0, Vector::Zero(3), 1e6).mean, 0.0);
}

}  // namespace masked_noise_test
}  // namespace mixcert
