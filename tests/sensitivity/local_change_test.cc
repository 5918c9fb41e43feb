// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Changes of laws in small boxes (M.12): never below what the coupling by the same weights costs, and close
// to it where there is one feature; mean slopes against sums over a fine grid.
#include "sensitivity/local_change.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "network/ordinary_scale.h"
#include "sensitivity/coupled_change.h"
#include "sensitivity/input_norms.h"
#include "sensitivity/mean_slopes.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace local_change_test {

struct NaiveSlope {
  double mean = 0.0, variance = 0.0;
};

/// Of f'(z), by a sum over difference quotients of a fine grid.
NaiveSlope naive_mean_slope(const Activation& f, double mean, double deviation) {
  constexpr double kStep = 1e-3;
  double sum = 0.0, squares = 0.0, weight = 0.0;
  for (double x = -8.0; x < 8.0; x += kStep) {
    const double density = std::exp(-0.5 * x * x);
    const double from = mean + deviation * (x - 0.5 * kStep), to = mean + deviation * (x + 0.5 * kStep);
    const double slope = (f(to) - f(from)) / (to - from);
    sum += density * slope;
    squares += density * slope * slope;
    weight += density;
  }
  return {sum / weight, squares / weight - sum * sum / (weight * weight)};
}

/// At the corners of the ranges, where the ends are attained.
void expect_holds(const Activation& f, double mean, double deviation, double mean_change, double change) {
  const MeanSlope slope = mean_slope(f, mean, deviation, mean_change, change);
  for (const double m : {mean - mean_change, mean, mean + mean_change}) {
    for (const double s : {deviation - change, deviation, deviation + change}) {
      const NaiveSlope naive = naive_mean_slope(f, m, s);
      EXPECT_NEAR(naive.mean, slope.centre, slope.radius + 1e-5) << m << ", " << s;
      EXPECT_LE(naive.variance, slope.spread * slope.spread + 1e-5) << m << ", " << s;
    }
  }
  EXPECT_LE(slope.spread, 0.5 * (f.slope_range().high - f.slope_range().low) + 1e-8);
}

TEST(MeanSlope, HoldsForEveryLawInItsRanges) {
  Generator generator = make_generator(1, Stream::Example);
  for (const ActivationFunction function : all_activation_functions()) {
    SCOPED_TRACE(to_string(function));
    const Activation f(function, function == ActivationFunction::LeakyRelu ? 1.5 : 0.01);
    for (int trial = 0; trial < 8; ++trial) {
      const double mean = 6.0 * uniform(generator) - 3.0,
                   deviation = std::exp(3.0 * uniform(generator) - 3.0);
      const double share = 0.9 * uniform(generator);
      expect_holds(f, mean, deviation, share * deviation, share * deviation * uniform(generator));
    }
  }
}

TEST(MeanSlope, IsExactWhereNothingMovesAndTrivialWithoutADeviation) {
  const Activation relu(ActivationFunction::Relu), tanh(ActivationFunction::Tanh);
  const MeanSlope half = mean_slope(relu, 0.0, 1.0, 0.0, 0.0);
  EXPECT_NEAR(half.centre, 0.5, 1e-11);
  EXPECT_LT(half.radius, 1e-11);
  EXPECT_NEAR(half.spread, 0.5, 1e-9);
  EXPECT_LT(mean_slope(tanh, 0.3, 0.5, 0.0, 0.0).radius, 1e-9);
  const MeanSlope active = mean_slope(relu, 1.0, 0.0, 0.5, 0.0);
  EXPECT_NEAR(active.centre - active.radius, 1.0, 1e-9);
  EXPECT_LT(active.spread, 1e-5);
  EXPECT_NEAR(mean_slope(relu, 1.0, 0.0, 1.5, 0.0).radius, 0.5, 1e-9);
  // |f''| <= 1 says how far the slope is from that at the mean.
  EXPECT_NEAR(mean_slope(tanh, 1.0, 0.0, 0.1, 0.0).radius, 0.1, 1e-9);
  EXPECT_LT(mean_slope(tanh, 1.0, 0.0, 0.1, 0.0).spread, 1e-9);
}

TEST(LocalChange, IsNotBelowTheCouplingByTheSameWeights) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    Generator generator = make_generator(seed, Stream::Example);
    NetworkRecipe recipe;
    recipe.widths = {static_cast<Index>(1 + seed % 5), 9, 3};
    if (seed % 3 == 0) recipe.widths = {3, 7, 6, 2};
    recipe.activation = all_activation_functions()[seed % all_activation_functions().size()];
    recipe.deviation = std::pow(10.0, -3.0 * uniform(generator));
    recipe.mean_scale = 0.5 + 3.0 * uniform(generator);
    recipe.seed = seed;
    const Network network = random_network(recipe);
    ASSERT_TRUE(LocalChange::covers(network));
    const LocalChange local(network, nullptr);
    const Index n = network.inputs();
    const Vector input = random_signs(generator, n) * uniform(generator);
    for (const double radius : {1e-3, 0.05, 1.0}) {
      const Vector widths = radius * Vector::NullaryExpr(n, [&] { return uniform(generator); });
      const double bound = local.in_box(input, widths).upper;
      for (int corner = 0; corner < 4; ++corner) {
        const Vector change = random_signs(generator, n).cwiseProduct(widths);
        // Draws scatter about the mean square by a few per cent.
        EXPECT_LE(0.9 * coupled_change(network, input, change), bound) << "seed " << seed;
      }
    }
  }
}

TEST(LocalChange, IsCloseInOneDimensionAndCloserThanSteepestSlopes) {
  for (const ActivationFunction function : {ActivationFunction::Relu, ActivationFunction::Tanh}) {
    NetworkRecipe recipe;
    recipe.widths = {1, 64, 1};
    recipe.activation = function;
    recipe.deviation = 0.05;
    recipe.mean_scale = 2.0;
    const Network network = random_network(recipe);
    const LocalChange local(network, nullptr);
    const InputNorms norms(network, nullptr);
    const Vector input = Vector::Constant(1, 0.3), width = Vector::Constant(1, 1e-3);
    const double bound = local.in_box(input, width).upper;
    EXPECT_LE(bound, 2.0 * coupled_change(network, input, width));
    EXPECT_LT(bound, 0.8 * norms.change_in_box(width).upper);
  }
}

/// Slopes that may be anything in a set so large leave steepest slopes, but for what is counted twice.
TEST(LocalChange, IsNotFarFromSteepestSlopesInLargeSets) {
  for (const ActivationFunction function : {ActivationFunction::Relu, ActivationFunction::Tanh}) {
    for (const Index outputs : {1, 3, 20}) {
      NetworkRecipe recipe;
      recipe.widths = {40, 30, outputs};
      recipe.activation = function;
      recipe.deviation = 1e-4;
      recipe.mean_scale = 1.0;
      const Network network = random_network(recipe);
      const LocalChange local(network, nullptr);
      const InputNorms norms(network, nullptr);
      for (const double radius : {1.0, 10.0, 1000.0}) {
        const Vector widths = Vector::Constant(40, radius);
        EXPECT_LE(local.in_box(Vector::Zero(40), widths).upper, 1.6 * norms.change_in_box(widths).upper);
      }
    }
  }
}

/// Many features of different half-widths: the metric of the columns is that of other half-widths.
TEST(LocalChange, IsNotBelowTheCouplingForManyFeatures) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Generator generator = make_generator(seed, Stream::Example);
    NetworkRecipe recipe;
    recipe.widths = {30, 20, static_cast<Index>(1 + seed % 19)};
    if (seed % 3 == 0) recipe.widths = {25, 18, 20, 4};
    recipe.deviation = 0.01;
    recipe.mean_scale = 1.0;
    recipe.seed = seed;
    const Network network = random_network(recipe);
    const LocalChange local(network, nullptr);
    const Index n = network.inputs();
    const Vector input = random_signs(generator, n) * uniform(generator);
    const Vector widths =
        Vector::NullaryExpr(n, [&] { return uniform(generator) < 0.2 ? 0.0 : 0.1 * uniform(generator); });
    const double bound = local.in_box(input, widths).upper;
    for (int corner = 0; corner < 10; ++corner) {
      const Vector change = random_signs(generator, n).cwiseProduct(widths);
      EXPECT_LE(0.9 * coupled_change(network, input, change), bound) << "seed " << seed;
    }
  }
}

TEST(LocalChange, HasNoScale) {
  const Network network = random_network({});
  const LocalChange local(network, nullptr);
  const Vector input{{0.5, -0.25}};
  EXPECT_EQ(local.in_box(input, Vector::Zero(2)).upper, 0.0);
  const double one = local.in_box(input, Vector::Constant(2, 1e-9)).upper;
  EXPECT_NEAR(local.in_box(input, Vector::Constant(2, 1e-200)).upper / 1e-200, one / 1e-9, 1e-5 * one / 1e-9);
  EXPECT_GT(local.in_box(input, Vector{{1e-3, 0.0}}).upper, 0.0);
  EXPECT_TRUE(std::isfinite(local.in_box(input, Vector::Constant(2, 1e100)).upper));
}

/// The network of inputs and outputs in other units: 2^-inputs times the first weights, 2^outputs times the
/// last layer.
Network in_units(const Network& network, int inputs, int outputs) {
  return Network({*scaled_by_powers(network.layer(0), -inputs, 0),
                  *scaled_by_powers(network.layer(1), outputs, outputs)},
                 {network.activation(0), network.activation(1)}, {network.mask(0), network.mask(1)},
                 network.shared_front(), network.has_own_noise());
}

/// Squares of weights and of half-widths alone are no numbers there, and those of changes at the output.
/// Weights y of (M.12) that vanish there cost a few per cent.
TEST(LocalChange, IsTheSameInOtherUnits) {
  for (const auto function : {ActivationFunction::Relu, ActivationFunction::Tanh}) {
    NetworkRecipe recipe;
    recipe.widths = {3, 9, 2};
    recipe.activation = function;
    const Network network = random_network(recipe);
    const Vector input{{0.5, -0.25, 1.0}}, widths{{0.1, 0.2, 0.0}};
    const double ordinary = LocalChange(network, nullptr).in_box(input, widths).upper;
    for (const auto& [inputs, outputs] :
         {std::pair(0, -130), {460, 0}, {460, -130}, {-400, -130}, {440, 90}}) {
      const LocalChange other(in_units(network, inputs, outputs), nullptr);
      const double scale = std::ldexp(1.0, inputs);
      const double bound = std::ldexp(other.in_box(scale * input, scale * widths).upper, -outputs);
      EXPECT_GE(bound, (1.0 - 1e-6) * ordinary) << "units of 2^" << inputs << " and 2^" << outputs;
      EXPECT_LE(bound, 1.1 * ordinary) << "units of 2^" << inputs << " and 2^" << outputs;
    }
  }
}

/// A change of 2^-1160 is no double, and not zero.
TEST(LocalChange, IsNotZeroWhereItUnderflows) {
  const LocalChange local(in_units(random_network({}), 460, 0), nullptr);
  const Vector widths = Vector::Constant(2, std::ldexp(1.0, -700));
  EXPECT_GT(local.in_box(Vector::Zero(2), widths).upper, 0.0);
}

TEST(LocalChange, CoversIndependentNormalsBehindTheFirstLayer) {
  NetworkRecipe recipe;
  recipe.weights = WeightFamily::Kronecker;
  EXPECT_FALSE(LocalChange::covers(random_network(recipe)));
  recipe.weights = WeightFamily::MeanField;
  recipe.widths = {2, 3};
  EXPECT_FALSE(LocalChange::covers(random_network(recipe)));
}

}  // namespace local_change_test
}  // namespace mixcert::testing
