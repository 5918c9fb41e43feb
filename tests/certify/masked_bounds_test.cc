// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks of one hidden layer behind dropout against their enumerated laws: bounds from above (D.13),
// (D.16), (D.19) and from below (D.9).
#include <gtest/gtest.h>

#include <cmath>

#include "certify/masked_property.h"

namespace mixcert::testing {
namespace masked_bounds_test {

TEST(MaskedBounds, EncloseTheDistanceOfEnumeratedMasks) { EXPECT_GT(expect_enclosed(17, 40, 10), 10); }

TEST(MaskedBounds, OfManyMasksUseTheSumAndNotMasksOneByOne) {
  RandomMaskedNets random(17);
  MaskedNet net = random.draw(96, 3, false);
  net.rate = 0.25;
  const Vector input = random.matrix(2, 1);
  const Result whole = certify_masked(net, input, 1);
  EXPECT_EQ(whole.layers.back().theorem, "D.13");
  Options coupling;
  coupling.method = Method::Moment;
  coupling.theorems = TheoremSet::Coupling;
  const Result coupled = certify(net.network(), input, coupling).front();
  EXPECT_LT(whole.w2.value, 0.8 * coupled.w2.value);
  EXPECT_LE(whole.w2_lower, whole.w2.value);
  net.variances = 0.01 * random.matrix(3, 96).cwiseAbs2();
  EXPECT_EQ(certify_masked(net, input, 1).layers.back().theorem, "D.16");
}

TEST(MaskedBounds, AreTheSameInAllUnits) {
  RandomMaskedNets random(17);
  MaskedNet net = random.draw(24, 2, false);
  net.rate = 0.2;
  const Vector input = random.matrix(2, 1);
  const Result one = certify_masked(net, input, 1);
  EXPECT_GT(one.w2_lower, 0.0);
  // Outputs above 2^100 are refused, and far below that what underflow may hide is charged.
  for (const int exponent : {-60, 60}) {
    MaskedNet scaled = net;
    scaled.second = net.second.unaryExpr([=](double x) { return std::ldexp(x, exponent); });
    const Result other = certify_masked(scaled, input, 1);
    EXPECT_NEAR(std::ldexp(other.w2_lower, -exponent), one.w2_lower, 1e-6 * one.w2_lower);
    EXPECT_NEAR(std::ldexp(other.w2.value, -exponent), one.w2.value, 1e-3 * one.w2.value);
  }
}

/// No Gaussian is as close as the mixture that is fitted to the law of one output; what is proven of it is
/// another number.
TEST(MaskedBounds, OfAFittedMixtureAreNotThoseOfAGaussian) {
  RandomMaskedNets random(17);
  MaskedNet net = random.draw(10, 1, false);
  net.rate = 0.1;
  const Vector input = random.matrix(2, 1);
  const Result one = certify_masked(net, input, 1);
  ASSERT_EQ(one.mixture.size(), 1);
  EXPECT_GE(one.w2_lower_mixture, one.w2_lower);
  EXPECT_LE(one.w2_lower_mixture, one.w2.value);
  Options options;
  options.method = Method::Moment;
  const Result fitted = certify(net.network(), input, options).front();
  ASSERT_GT(fitted.mixture.size(), 1);
  EXPECT_EQ(fitted.w2_lower, one.w2_lower);
  EXPECT_GT(fitted.w2_lower, fitted.w2.value);
  EXPECT_LT(fitted.w2_lower_mixture, fitted.w2_lower);
  EXPECT_LE(fitted.w2_lower_mixture, fitted.w2.value);
}

TEST(MaskedBounds, SayNothingOfOtherRandomness) {
  RandomMaskedNets random(17);
  const MaskedNet net = random.draw(4, 2, true);
  const Result result = certify_masked(net, random.matrix(2, 1), 1);
  EXPECT_TRUE(std::isnan(result.w2_lower));
  EXPECT_TRUE(std::isnan(result.w2_lower_mixture));
}

}  // namespace masked_bounds_test
}  // namespace mixcert::testing
