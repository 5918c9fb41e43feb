// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Tails behind masks, docs/theory/graphs.md (O.21), (O.22): constants and moments against enumeration, slopes
// and jumps against drawn networks, bounds against other draws of their coupling.
#include "simulated/graph/mask_tails.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "core/normal.h"
#include "mixture/symmetric_eigen.h"
#include "simulated/box_muller.h"
#include "simulated/graph/graph_coupling.h"
#include "simulated/graph_cases.h"
#include "simulated/normal_line.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace mask_tails_test {

constexpr std::array kRates = {1e-6, 0.02, 0.1, 0.3, 0.5, 0.7, 0.95};

/// E x log x - E x log E x on two points.
double entropy(double rate, double dropped, double kept) {
  const auto term = [](double x) { return x > 0.0 ? x * std::log(x) : 0.0; };
  const double mean = rate * dropped + (1.0 - rate) * kept;
  return rate * term(dropped) + (1.0 - rate) * term(kept) - term(mean);
}

TEST(MaskTails, EntropyOfTwoPointsIsBelowTheSquaredJump) {
  double closest = 0.0;
  for (const double rate : kRates) {
    const Mask mask = Mask::bernoulli(rate);
    // lambda max(p, kappa)^{-1} 2 p kappa = c(p) p kappa.
    const double constant = 2.0 * jump_weight(mask) / std::max(rate, 1.0 - rate) * rate * (1.0 - rate);
    for (double dropped = 0.0; dropped <= 2.0; dropped += 1.0 / 64) {
      for (double kept = 0.0; kept <= 2.0; kept += 1.0 / 64) {
        const double jump = constant * std::pow(dropped - kept, 2);
        const double own = entropy(rate, dropped * dropped, kept * kept);
        EXPECT_LE(own, jump + 1e-14);
        if (jump > 1e-3) closest = std::max(closest, own / jump);
      }
    }
    EXPECT_NEAR(standardised_jump_weight(mask), jump_weight(mask) / (rate * (1.0 - rate)),
                1e-6 * standardised_jump_weight(mask));
  }
  EXPECT_GT(closest, 0.98);  // the constant is sharp
}

TEST(MaskTails, WeightsOfRareMasksAreNotTooSmall) {
  for (const double rate : {1e-300, 8.33e-17, 7.7e-15, 1e-13, 3.3e-10, 1e-6, 0.01, 0.2}) {
    const long double p = rate, kappa = 1.0L - p;
    const long double exact = (std::log1p(-p) - std::log(p)) / (kappa - p);
    EXPECT_GE(2.0L * jump_weight(Mask::bernoulli(rate)) / kappa, exact);
    EXPECT_LE(2.0L * jump_weight(Mask::bernoulli(rate)) / kappa, exact * 1.00001L);
    EXPECT_GE(2.0L * p * standardised_jump_weight(Mask::bernoulli(rate)), exact);
  }
}

TEST(MaskTails, MomentsOfMaskNoiseAreNoSmallerThanEnumerated) {
  double least = INFINITY;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 2960);
    const double rate = kRates[seed % kRates.size()];
    const MaskNode node{Mask::bernoulli(rate), 1 + static_cast<Index>(seed % 2)};
    const Index factors = 10;
    const Vector x = random_vector(generator, factors * node.together).array().cube();
    const MaskedValues values = masked_values(node, x);
    for (const double q : {2.0, 3.0, 9.0, 48.0, 200.0}) {
      const double unit = x.norm() * std::max(1.0, rate / (1.0 - rate));  // so that powers do not overflow
      double moment = 0.0;
      for (unsigned state = 0; state < 1U << factors; ++state) {
        double weight = 1.0, square = 0.0;
        for (Index j = 0; j < factors; ++j) {
          const bool dropped = ((state >> static_cast<unsigned>(j)) & 1U) != 0;
          weight *= dropped ? rate : 1.0 - rate;
          const double off = (dropped ? 0.0 : 1.0 / (1.0 - rate)) - 1.0;
          square += off * off * x.segment(j * node.together, node.together).squaredNorm();
        }
        moment += weight * std::pow(square / (unit * unit), 0.5 * q);
      }
      const double exact = unit * std::pow(moment, 1.0 / q), bound = mask_noise(node, values, q);
      EXPECT_GE(bound, exact * (1.0 - 1e-12));
      if (exact > 0.0) least = std::min(least, bound / exact);
    }
  }
  std::printf("moments of mask noise over enumerated ones: at least %.3f\n", least);
}

/// (G^2 + sum_j lambda_j D_j^2)^{1/2} of the outputs at a draw.
double weighed_slope(const GraphCase& at, const BlockRandomness& randomness) {
  const double slope = singular_values(naive_slopes(at, randomness).transpose()).values(0);
  double square = slope * slope;
  BlockRandomness changed = randomness;
  for (Index k = 0; k < at.graph.size(); ++k) {
    const auto* mask = std::get_if<MaskNode>(&at.graph.node(k).work);
    if (mask == nullptr || !mask->jumps()) continue;
    Matrix& numbers = changed.numbers[static_cast<std::size_t>(k)];
    for (Index j = 0; j < numbers.rows(); ++j) {
      const double own = numbers(j, 0);
      numbers(j, 0) = 50.0;
      const Vector kept = run_block(at.graph, at.input, changed).col(0);
      numbers(j, 0) = -50.0;
      const Vector dropped = run_block(at.graph, at.input, changed).col(0);
      numbers(j, 0) = own;
      square += jump_weight(mask->mask) * (kept - dropped).squaredNorm();
    }
  }
  return std::sqrt(square);
}

TEST(GraphSlopes, CountTheJumpsOfMasks) {
  double least = INFINITY;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const GraphCase at = masked_random_case(seed);
    const GraphNorms norms(at.graph);
    const GraphSlopes slopes(norms, {at.input});
    Generator generator = make_generator(seed, Stream::Example, 2961);
    const NormalSource source = [&](Matrix& out) { out = random_matrix(generator, out.rows(), out.cols()); };
    Vector found(25);
    for (double& slope : found) slope = weighed_slope(at, BlockRandomness(at.graph, 1, source));
    for (const double q : {2.5, 6.0, 30.0}) {
      const double sampled = std::pow(found.array().pow(q).mean(), 1.0 / q);
      least = std::min(least, slopes.of_outputs(q) / sampled);
      EXPECT_GE(slopes.of_outputs(q), sampled * 0.98);
    }
  }
  std::printf("moments of slopes and jumps over simulated ones: at least %.2f\n", least);
}

TEST(GraphCoupling, FailsBehindMasksAsRarelyAsItSays) {
  Index failures = 0, bounds = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const GraphCase at = masked_random_case(seed);
    const GraphNorms norms(at.graph);
    const GraphCoupling coupling(at.graph, {at.input},
                                 {.draws = 1024, .failure_probability = 0.1, .seed = seed, .threads = 2});
    const SimulatedBound bound = coupling.bound(norms);
    if (!bound.exists()) continue;
    ++bounds;
    const Vector proven = coupling.proven_costs(DrawUse::Marginals, 8192, norms);
    failures += bound.w2 < 0.99 * std::sqrt(proven.mean()) ? 1 : 0;
  }
  std::printf("%d of %d bounds behind masks below the coupling at failure probability 0.1\n",
              static_cast<int>(failures), static_cast<int>(bounds));
  EXPECT_GE(bounds, 30);
  EXPECT_LE(10 * failures, bounds);
}

/// Two convolutions with dropout of channels behind each, all weights fixed: six masks, one output.
GraphCase six_masks(std::uint64_t seed, double rate) {
  Generator generator = make_generator(seed, Stream::Example, 2962);
  const std::vector<LayerSpec> layers = {
      convolution(generator, {1, {4, 4}, true}, 3, 3, 1, 0.0, "c0"),
      activation_spec(ActivationFunction::Relu),
      Dropout2dSpec{rate},
      convolution(generator, {3, {4, 4}, true}, 3, 3, 1, 0.0, "c1"),
      activation_spec(seed % 2 == 0 ? ActivationFunction::Relu : ActivationFunction::Tanh),
      Dropout2dSpec{rate},
      FlattenSpec{},
      dense(generator, 48, 1, 0.0, "head")};
  return {build_graph(layers), random_vector(generator, 16)};
}

/// W2 between the output, all states of the masks enumerated, and a mixture on the line.
double exact_distance(const GraphCase& at, double rate, const GaussianMixture& mixture) {
  Line law, stored;
  BlockRandomness randomness(at.graph, 1, [](Matrix& out) { out.setZero(); });
  for (unsigned state = 0; state < 64U; ++state) {
    unsigned bits = state;
    double weight = 1.0;
    for (Index k = 0; k < at.graph.size(); ++k) {
      if (!std::holds_alternative<MaskNode>(at.graph.node(k).work)) continue;
      for (double& normal : randomness.numbers[static_cast<std::size_t>(k)].reshaped()) {
        normal = (bits & 1U) != 0 ? -50.0 : 50.0;
        weight *= (bits & 1U) != 0 ? rate : 1.0 - rate;
        bits >>= 1U;
      }
    }
    law.parts.push_back({weight, run_block(at.graph, at.input, randomness)(0, 0), 0.0});
  }
  for (Index i = 0; i < mixture.size(); ++i)
    stored.parts.push_back({mixture.weights()(i), mixture.component(i).mean(0),
                            std::sqrt(mixture.component(i).covariance.variances()(0))});
  return line_distance(law, stored, 4000);
}

TEST(GraphCoupling, BoundsBehindMasksHoldTheEnumeratedLaw) {
  double least = INFINITY;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const double rate = std::array{0.02, 0.1, 0.5, 0.8}[seed % 4];
    const GraphCase at = six_masks(seed, rate);
    const GraphCoupling coupling(at.graph, {at.input}, {.draws = 16384, .seed = seed, .threads = 2},
                                 seed % 3 == 0 ? 8 : 1);
    const SimulatedBound bound = coupling.bound(GraphNorms(at.graph));
    ASSERT_TRUE(bound.exists()) << bound.gap;
    const double exact = exact_distance(at, rate, coupling.mixture());
    EXPECT_GE(bound.w2, exact);
    least = std::min(least, bound.w2 / exact);
  }
  std::printf("bounds behind masks over enumerated distances: at least %.3f\n", least);
}

TEST(GraphCoupling, AMaskThatAnErrorCouldFlipCostsEverything) {
  for (const double rate : {1e-9, 0.1, 0.5, 0.9}) {
    const GraphCase at = masked_case(1, DropoutSpec{rate}, 1);
    const double threshold = normal_quantile(rate);
    Index k = 0;
    while (!std::holds_alternative<MaskNode>(at.graph.node(k).work)) ++k;
    const auto undecided = [&](double normal) {
      BlockRandomness randomness(at.graph, 2, [](Matrix& out) { out.setConstant(7.0); });
      randomness.numbers[static_cast<std::size_t>(k)](3, 1) = normal;
      const auto found = undecided_draws(at.graph, randomness, kNormalError);
      EXPECT_FALSE(found(0));
      return found(1);
    };
    EXPECT_TRUE(undecided(threshold));
    EXPECT_TRUE(undecided(threshold + 0.9e-13));
    EXPECT_TRUE(undecided(threshold - 0.9e-13));
    EXPECT_TRUE(undecided(std::numeric_limits<double>::quiet_NaN()));
    EXPECT_FALSE(undecided(threshold + 1e-11));
    EXPECT_FALSE(undecided(threshold - 1e-11));
  }
}

}  // namespace mask_tails_test
}  // namespace mixcert::testing
