// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws of the coupling's cost against extended precision, the chain's Gaussian against the stored one, and
// the bound: how often it fails, and how close it is to the coupling.
#include "simulated/simulated_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "simulated/coupled_paths.h"
#include "simulated/naive_coupling.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace {

/// The normals that a block of draws uses, in their order: the first layer's, then the others'.
Matrix normals_of_block(const SimulatedCase& at, const DrawPlan& plan) {
  RandomBits bits(plan.seed, plan.use, plan.input, 0);
  Matrix all(naive_normal_count(at), plan.draws);
  Index row = 0;
  for (Index k = 0; k < at.network.hidden_count(); ++k) {
    Matrix own(at.network.layer(k).outputs(), plan.draws);
    fill_normals(bits, own);
    all.middleRows(row, own.rows()) = own;
    row += own.rows();
  }
  return all;
}

TEST(CoupledPaths, AreNotBelowExtendedPrecisionAndNearlyEqual) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const SimulatedCase at =
        seed % 4 == 0 ? deep_case(12, 4, 0.3, ActivationFunction::Relu, seed) : small_case(seed);
    const CoupledChain chain(at.network, *at.trace);
    const DrawPlan plan{seed, DrawUse::Main, 7, 100};
    const Vector costs = draw_costs(chain, plan, 1, nullptr);
    const Matrix normals = normals_of_block(at, plan);
    for (Index i = 0; i < plan.draws; ++i) {
      const auto cost = static_cast<double>(naive_cost(at, normals.col(i)));
      EXPECT_GE(std::sqrt(costs(i)), cost);
      EXPECT_LE(std::sqrt(costs(i)), cost * (1.0 + 1e-6) + 1e-8);
    }
  }
}

TEST(CoupledPaths, DoNotDependOnThreads) {
  const SimulatedCase at = deep_case(12, 3, 0.3, ActivationFunction::Tanh, 1);
  const CoupledChain chain(at.network, *at.trace);
  const DrawPlan plan{5, DrawUse::Main, 0, 2000};
  EXPECT_EQ(draw_costs(chain, plan, 1, nullptr), draw_costs(chain, plan, 3, nullptr));
}

TEST(ChainOutput, IsTheStoredGaussianUpToRounding) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SimulatedCase at =
        seed % 2 == 0 ? small_case(seed) : deep_case(12, 3, 0.3, ActivationFunction::Relu, seed);
    const ChainOutput output(CoupledChain(at.network, *at.trace));
    const Gaussian& stored = at.trace->output.component(0);
    const double size = stored.covariance.variances().cwiseSqrt().norm() + stored.mean.norm();
    EXPECT_LE(output.distance_to(stored), 1e-5 * size);
    // Another Gaussian is as far away as it is.
    Gaussian moved = stored;
    moved.mean(0) += 0.5;
    EXPECT_GE(output.distance_to(moved), 0.5);
  }
}

/// E F^2 by draws of another seed.
double coupling(const SimulatedCase& at, Index draws) {
  const CoupledChain chain(at.network, *at.trace);
  return std::sqrt(draw_costs(chain, {991, DrawUse::Main, 0, draws}, 1, nullptr).mean());
}

/// (F.8), also where there is one output.
SimulatedBound coupling_bound(const SimulatedCase& at, const SimulationSettings& settings) {
  const CoupledChain chain(at.network, *at.trace);
  return CouplingSimulation(chain, settings).bound(at.trace->output.component(0));
}

TEST(CouplingSimulation, FailsAsRarelyAsItSays) {
  Index failures = 0, bounds = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const SimulatedCase at = small_case(seed);
    if (!simulation_refusal(at.network).empty()) continue;
    const SimulatedBound bound =
        coupling_bound(at, {.draws = 1024, .failure_probability = 0.1, .seed = seed});
    if (std::isnan(bound.w2)) continue;
    ++bounds;
    if (bound.w2 < coupling(at, 20000) * 0.99) ++failures;
  }
  std::printf("%d of %d bounds below the coupling at failure probability 0.1\n", static_cast<int>(failures),
              static_cast<int>(bounds));
  EXPECT_GE(bounds, 150);
  EXPECT_LE(10 * failures, bounds);
}

TEST(CouplingSimulation, IsCloseToTheCoupling) {
  for (const auto& [depth, function] : {std::pair<Index, ActivationFunction>{2, ActivationFunction::Relu},
                                        {3, ActivationFunction::Relu},
                                        {3, ActivationFunction::Tanh}}) {
    const SimulatedCase at = deep_case(48, depth, 0.3, function, 3);
    const SimulatedBound bound = coupling_bound(at, {.draws = 65536, .seed = 1, .threads = 2});
    std::printf("depth %d: bound %.4f, coupling %.4f, draws %d\n", static_cast<int>(depth), bound.w2,
                bound.coupled_cost, static_cast<int>(bound.draws));
    EXPECT_GE(bound.w2, bound.coupled_cost);
    EXPECT_LE(bound.w2, 1.15 * bound.coupled_cost);
  }
}

TEST(SimulatedBound, RefusesWhatItDoesNotCover) {
  const SimulatedCase at = deep_case(4, 2, 0.3, ActivationFunction::Relu, 1);
  EXPECT_EQ(simulation_refusal(at.network), "");
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  std::vector<Mask> masks;
  for (Index k = 0; k < at.network.layer_count(); ++k) {
    layers.push_back(at.network.layer(k));
    activations.push_back(at.network.activation(k));
    masks.push_back(k == 1 ? Mask::bernoulli(0.5) : Mask());
  }
  EXPECT_NE(simulation_refusal(Network(layers, activations, masks)).find("dropout"), std::string::npos);
  EXPECT_NE(simulation_refusal(Network({layers[0]}, {ActivationMap()})).find("no hidden layer"),
            std::string::npos);
}

}  // namespace
}  // namespace mixcert::testing
