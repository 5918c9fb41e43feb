// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws of the coupling's cost against extended precision, the chain's Gaussian against the stored one, and
// the bound: how often it fails, and how close it is to the coupling.
#include "simulated/simulated_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "simulated/coupled_paths.h"
#include "simulated/naive_coupling.h"
#include "simulated/simulated_moments.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace simulated_bound_test {

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

TEST(CoupledChain, StretchedHasTheCostsAndTheGaussianOfItsDefinition) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const SimulatedCase at =
        deep_case(9, 1 + static_cast<Index>(seed % 3), 0.4, ActivationFunction::Relu, seed, 3);
    const CoupledChain chain(at.network, *at.trace);
    const Vector factor = Vector::LinSpaced(3, 0.8, 1.3), shift = Vector::LinSpaced(3, -0.2, 0.1);
    const CoupledChain stretched = chain.stretched(factor, shift);
    const DrawPlan plan{seed, DrawUse::Main, 7, 100};
    const CoupledOutputs both = draw_coupled_outputs(chain, plan, 1, nullptr);
    const Matrix normals = normals_of_block(at, plan);
    const Vector costs = draw_costs(stretched, plan, 1, nullptr);
    const Vector noise = chain.last().noise;
    for (Index i = 0; i < plan.draws; ++i) {
      const Vector deviations = both.variances.col(i).cwiseSqrt();
      const auto cost = [&](const Vector& f, const Vector& s) {
        return std::hypot((both.network.col(i) - f.cwiseProduct(both.chain.col(i)) - s).norm(),
                          (deviations - f.cwiseProduct(noise)).norm());
      };
      // Draws of both sides against extended precision, then the definition.
      EXPECT_NEAR(cost(Vector::Ones(3), Vector::Zero(3)), static_cast<double>(naive_cost(at, normals.col(i))),
                  1e-10);
      EXPECT_NEAR(std::sqrt(costs(i)), cost(factor, shift), 1e-8);
    }
    const Gaussian& own = at.trace->output.component(0);
    const Gaussian moved{
        factor.cwiseProduct(own.mean) + shift,
        Covariance::dense(factor.asDiagonal() * own.covariance.to_dense() * factor.asDiagonal())};
    EXPECT_LE(ChainOutput(stretched).distance_to(moved), 1e-5 * (1.0 + own.mean.norm()));
  }
}

TEST(SimulatedMoments, AreThoseOfTheNetwork) {
  Index replaced = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const SimulatedCase at = deep_case(10, 3, 0.8, ActivationFunction::Relu, seed, 4);
    const CoupledChain chain(at.network, *at.trace);
    const auto draws = [&](DrawUse use, Index count) {
      return draw_coupled_outputs(chain, {seed, use, 0, count}, 2, nullptr);
    };
    const auto better = with_simulated_moments(chain, at.trace->output, draws(DrawUse::Pilot, 4096));
    if (!better) continue;
    ++replaced;
    const CoupledOutputs truth = draws(DrawUse::Main, 200000);
    const Vector mean = truth.network.rowwise().mean();
    const Vector deviations = ((truth.network.colwise() - mean).rowwise().squaredNorm() / 200000.0 +
                               truth.variances.rowwise().mean())
                                  .cwiseSqrt();
    const Vector made = better->output.mixture.standard_deviation();
    EXPECT_LE(((made - deviations).array() / deviations.array()).abs().maxCoeff(), 0.03);
    EXPECT_LE(((better->output.mixture.mean() - mean).array() / deviations.array()).abs().maxCoeff(), 0.03);
  }
  EXPECT_GE(replaced, 3);
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

TEST(SimulatedMoments, BoundsFailAsRarelyAsTheySay) {
  Index failures = 0, replaced = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const SimulatedCase at = small_case(seed, 2);
    if (!simulation_refusal(at.network).empty()) continue;
    const Options options;
    const SimulationSettings settings{.draws = 1024, .failure_probability = 0.1, .seed = seed};
    // A formal bound that is so large that every other one is worth taking.
    const Simulation made = simulated_bound({.network = at.network,
                                             .trace = &*at.trace,
                                             .mixture = at.trace->output,
                                             .formal = 1e9,
                                             .options = options},
                                            settings);
    if (!made.closer || !std::isfinite(made.closer->w2)) continue;
    ++replaced;
    EXPECT_GE(made.bound.w2, made.closer->w2);
    // The chain that was taken, and its coupling by other draws.
    const CoupledChain chain(at.network, *at.trace);
    const auto better = with_simulated_moments(
        chain, at.trace->output,
        draw_coupled_outputs(chain, {seed, DrawUse::Pilot, 0, kPilotDraws}, 1, nullptr));
    ASSERT_TRUE(better.has_value());
    const double cost =
        std::sqrt(draw_costs(better->chain, {991, DrawUse::Main, 0, 20000}, 1, nullptr).mean());
    if (made.closer->w2 < 0.99 * cost) ++failures;
  }
  std::printf("%d of %d bounds of Gaussians with simulated moments below the coupling at 0.1\n",
              static_cast<int>(failures), static_cast<int>(replaced));
  EXPECT_GE(replaced, 20);
  EXPECT_LE(10 * failures, replaced);
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

}  // namespace simulated_bound_test
}  // namespace mixcert::testing
