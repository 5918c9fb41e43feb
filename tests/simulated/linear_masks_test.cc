// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Dropout inside convolutional networks, masks kept as masks, docs/theory/graphs.md (O.10): the mixture's law
// against exact sums, and its distance against sorted draws of one output.
#include "simulated/graph/linear_masks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "simulated/graph/graph_coupling.h"
#include "simulated/graph_cases.h"
#include "simulated/normal_line.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace linear_masks_test {

NormalSource source_of(Generator& generator) {
  return [&](Matrix& out) { out = random_matrix(generator, out.rows(), out.cols()); };
}

LayerSpec mask_of(bool channels, double rate) {
  return channels ? LayerSpec(Dropout2dSpec{rate}) : LayerSpec(DropoutSpec{rate});
}

LinearSurrogate surrogate_of(const GraphCase& at, Generator& generator) {
  GraphPilot pilot(at.graph, at.input);
  pilot.add(BlockRandomness(at.graph, 500, source_of(generator)));
  return {at.graph, at.input, pilot.nodes()};
}

TEST(LinearMasks, TheMixtureHasTheMomentsOfTheSurrogate) {
  for (const bool channels : {false, true}) {
    for (const Index components : {1, 4, 64}) {
      const GraphCase at = masked_case(3, mask_of(channels, 0.3), 2);
      Generator generator = make_generator(4, Stream::Example, 2941);
      const LinearSurrogate surrogate = surrogate_of(at, generator);
      const MaskMixture made = mask_mixture(at.graph, surrogate, components);
      EXPECT_LE(made.mixture.size(), components);
      EXPECT_NEAR(made.mixture.weights().sum(), 1.0, 1e-12);
      EXPECT_LE(made.mixture.mean().norm(), 1e-12);
      EXPECT_LE((made.mixture.covariance() - surrogate.covariance()).norm(),
                1e-10 * surrogate.covariance().norm());
      const Matrix draws = surrogate.centred(at.graph, BlockRandomness(at.graph, 40000, source_of(generator)),
                                             MaskForm::Factor);
      const Matrix sampled = draws * draws.transpose() / 40000.0;
      EXPECT_LE((sampled - surrogate.covariance()).norm(), 0.05 * surrogate.covariance().norm());
    }
  }
}

/// Distance of sorted draws of one coordinate: no more than that of all.
double sorted_distance(Vector a, Vector b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return (a - b).norm() / std::sqrt(static_cast<double>(a.size()));
}

Vector draws_of(const GaussianMixture& mixture, Index count, Generator& generator) {
  std::discrete_distribution<Index> choice(mixture.weights().begin(), mixture.weights().end());
  std::normal_distribution<> normal;
  Vector all(count);
  for (double& one : all) {
    const Gaussian& own = mixture.component(choice(generator));
    one = own.mean(0) + std::sqrt(own.covariance.variances()(0)) * normal(generator);
  }
  return all;
}

/// The surrogate's law, all states of its masks.
Line law_of(const LayerGraph& graph, const LinearSurrogate& surrogate, double rate) {
  double variance = 0.0;
  std::vector<double> steps;
  for (Index k = 0; k < graph.size(); ++k) {
    const Matrix& factor = surrogate.factor(k);
    if (!std::holds_alternative<MaskNode>(graph.node(k).work)) {
      variance += factor.squaredNorm();
      continue;
    }
    for (Index j = 0; j < factor.rows(); ++j) steps.push_back(factor(j, 0));
  }
  Line law;
  for (unsigned state = 0; state < 1U << steps.size(); ++state) {
    double weight = 1.0, mean = 0.0;
    for (std::size_t j = 0; j < steps.size(); ++j) {
      const bool dropped = ((state >> j) & 1U) != 0;
      weight *= dropped ? rate : 1.0 - rate;
      mean += steps[j] * ((dropped ? 0.0 : 1.0 / (1.0 - rate)) - 1.0) / std::sqrt(rate / (1.0 - rate));
    }
    law.parts.push_back({weight, mean, std::sqrt(variance)});
  }
  return law;
}

TEST(LinearMasks, DistancesAreNoSmallerThanExactOnes) {
  double least = INFINITY;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE(seed);
    const double rate = seed % 4 == 0 ? 0.5 : 0.1;
    const GraphCase at = masked_case(seed, mask_of(true, rate), 1);
    Generator generator = make_generator(seed, Stream::Example, 2942);
    const LinearSurrogate surrogate = surrogate_of(at, generator);
    const MaskMixture made = mask_mixture(at.graph, surrogate, seed % 3 == 0 ? 1 : 8);
    const Line exact = law_of(at.graph, surrogate, rate);
    Line stored;
    for (Index i = 0; i < made.mixture.size(); ++i)
      stored.parts.push_back({made.mixture.weights()(i), made.mixture.component(i).mean(0),
                              std::sqrt(made.mixture.component(i).covariance.variances()(0))});
    const double distance = line_distance(exact, stored, 4000);
    least = std::min(least, made.distance / distance);
    EXPECT_GE(made.distance, distance);
  }
  std::printf("distances of masks' sums over exact ones: at least %.2f\n", least);
}

TEST(GraphCoupling, KeepsMasksWhereThatIsBetter) {
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const GraphCase at = masked_case(seed, mask_of(seed % 2 == 0, 0.2), 1);
    const GraphCoupling coupling(at.graph, {at.input}, {.seed = seed, .threads = 2}, 8, false);
    kept += coupling.beyond_cost() > 0.0 ? 1 : 0;
    const double upper = std::sqrt(coupling.costs(DrawUse::Statistic, 20000).mean()) + coupling.beyond_cost();
    Generator generator = make_generator(seed, Stream::Example, 2943);
    const Index draws = 50000;
    const Vector y =
        run_block(at.graph, at.input, BlockRandomness(at.graph, draws, source_of(generator))).row(0);
    const double sorted = sorted_distance(y, draws_of(coupling.mixture(), draws, generator));
    EXPECT_GE(upper + 0.01 * std::sqrt(coupling.mixture().covariance()(0, 0)), sorted);
  }
  EXPECT_GT(kept, 0);
}

}  // namespace linear_masks_test
}  // namespace mixcert::testing
