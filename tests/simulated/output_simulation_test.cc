// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law of one output from draws: order statistics against laws that are known, distances on the line
// against closed forms and sums over quantiles, draws against extended precision, and how often the bound
// fails.
#include "simulated/line/output_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "simulated/coupled_paths.h"
#include "simulated/line/known_law.h"
#include "simulated/naive_coupling.h"
#include "simulated/simulated_bound.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace output_simulation_test {

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

GaussianMixture line_mixture(const std::vector<double>& weights, const std::vector<double>& means,
                             const std::vector<double>& deviations) {
  std::vector<Gaussian> components;
  for (std::size_t i = 0; i < means.size(); ++i) {
    components.push_back({Vector::Constant(1, means[i]),
                          Covariance::diagonal(Vector::Constant(1, deviations[i] * deviations[i]))});
  }
  return {Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size())), components};
}

/// The quantile function by bisection of the definition.
double naive_quantile(const GaussianMixture& mixture, double t) {
  double low = -100.0, high = 100.0;
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    double below = 0.0;
    for (Index i = 0; i < mixture.size(); ++i) {
      const double deviation = std::sqrt(mixture.component(i).covariance.variances()(0));
      const double off = middle - mixture.component(i).mean(0);
      below +=
          mixture.weights()(i) * (deviation > 0.0 ? normal_cdf(off / deviation) : (off >= 0.0 ? 1.0 : 0.0));
    }
    (below >= t ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

/// (int (Q_1 - Q_2)^2)^{1/2} by the midpoint rule.
double naive_distance(const GaussianMixture& p, const GaussianMixture& q) {
  const int count = 4000;
  double sum = 0.0;
  for (int i = 0; i < count; ++i) {
    const double t = (i + 0.5) / count;
    sum += std::pow(naive_quantile(p, t) - naive_quantile(q, t), 2) / count;
  }
  return std::sqrt(sum);
}

OutputDraws exact_draws(Vector numbers) {
  std::sort(numbers.begin(), numbers.end());
  return {numbers, numbers};
}

TEST(QuantileBand, HoldsTheQuantilesOfAKnownLawAndFailsAsRarelyAsItSays) {
  int failures = 0;
  const int runs = 300;
  for (int run = 0; run < runs; ++run) {
    Generator generator = make_generator(static_cast<std::uint64_t>(run), Stream::Example, 2806);
    const Index n = run % 3 == 0 ? 40 : 1000;
    const QuantileBand band(exact_draws(random_matrix(generator, n, 1)), 0.3);
    bool holds = true;
    for (double x = -4.0; x < 4.0; x += 0.01)
      holds = holds && band.lower(normal_cdf(x)) <= x + 1e-9 && x - 1e-9 <= band.upper(normal_cdf(x));
    failures += holds ? 0 : 1;
  }
  std::printf("%d of %d bands do not hold the quantiles at failure probability 0.3\n", failures, runs);
  EXPECT_LE(failures, 90);
}

TEST(QuantileBand, IsMadeOfOrderStatistics) {
  const OutputDraws draws = exact_draws(Vector::LinSpaced(500, 1.0, 500.0));
  const QuantileBand band(draws, 1e-3);
  EXPECT_EQ(band.least(), 1.0);
  EXPECT_EQ(band.most(), 500.0);
  EXPECT_EQ(band.lower(0.5 * band.first()), -INFINITY);
  EXPECT_EQ(band.upper(0.5 * (1.0 + band.last())), INFINITY);
  // At the median: 250 draws, about sqrt(500 log(2000 m) / 2) of them either way.
  EXPECT_LT(band.lower(0.5), 220.0);
  EXPECT_GT(band.lower(0.5), 170.0);
  EXPECT_GT(band.upper(0.5), 280.0);
  EXPECT_LT(band.upper(0.5), 330.0);
  for (double t = 0.01; t < 0.99; t += 0.01) {
    EXPECT_LE(band.lower(t), band.upper(t));
    EXPECT_LE(band.lower(t), band.lower(t + 0.01));
    EXPECT_LE(band.upper(t), band.upper(t + 0.01));
  }
}

TEST(DistanceOnLine, IsThatOfGaussians) {
  for (const auto& [mean, deviation] :
       {std::pair{0.0, 1.0}, {0.3, 1.0}, {-2.0, 0.25}, {0.0, 3.0}, {1e6, 1.0}}) {
    const KnownLaw law = known_mixture(LineLaw(line_mixture({1.0}, {0.0}, {1.0})));
    const double bound = distance_on_line(law, LineLaw(line_mixture({1.0}, {mean}, {deviation})));
    const double exact = std::hypot(mean, deviation - 1.0);
    EXPECT_GE(bound, exact);
    EXPECT_LE(bound, exact + 0.004 + 1e-6 * exact);
  }
}

TEST(DistanceOnLine, IsThatOfMixturesAndAtoms) {
  const std::vector<GaussianMixture> laws = {line_mixture({0.3, 0.7}, {-1.0, 0.5}, {0.2, 1.0}),
                                             line_mixture({0.5, 0.5}, {-1.0, 1.0}, {0.0, 0.0}),
                                             line_mixture({0.9, 0.1}, {0.0, 4.0}, {0.5, 0.0}),
                                             line_mixture({0.2, 0.5, 0.3}, {2.0, 2.0, 2.0}, {0.1, 1.0, 3.0})};
  for (const GaussianMixture& p : laws) {
    for (const GaussianMixture& q : laws) {
      const double bound = distance_on_line(known_mixture(LineLaw(p)), LineLaw(q));
      const double about = naive_distance(p, q);
      EXPECT_GE(bound, about - 0.01);
      EXPECT_LE(bound, 1.02 * about + 0.05);
    }
  }
}

TEST(OutputDraws, HoldExtendedPrecision) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const SimulatedCase at =
        seed % 4 == 0 ? deep_case(12, 4, 0.3, ActivationFunction::Relu, seed, 1) : small_case(seed, 1);
    const CoupledChain chain(at.network, *at.trace);
    const DrawPlan plan{seed, DrawUse::Main, 7, 100};
    const OutputDraws draws = draw_outputs(chain, plan, 1, nullptr).front();
    RandomBits bits(plan.seed, plan.use, plan.input, 0);
    Matrix normals(naive_normal_count(at) + 1, plan.draws);
    Index row = 0;
    for (Index k = 0; k < at.network.layer_count(); ++k) {
      const Index outputs = at.network.layer(k).outputs();
      normals.middleRows(row, outputs) = standard_normals(bits, outputs, plan.draws);
      row += outputs;
    }
    std::vector<long double> exact;
    for (Index i = 0; i < plan.draws; ++i) exact.push_back(naive_output(at, normals.col(i)));
    std::sort(exact.begin(), exact.end());
    for (Index i = 0; i < plan.draws; ++i) {
      const auto y = static_cast<double>(exact[static_cast<std::size_t>(i)]);
      EXPECT_LE(draws.lower(i), y);
      EXPECT_GE(draws.upper(i), y);
      EXPECT_LE(draws.upper(i) - draws.lower(i), 1e-7 * (1.0 + std::abs(y)));
    }
  }
}

/// W2 between the law, by other draws, and a mixture.
double sampled_distance(const CoupledChain& chain, const GaussianMixture& mixture, Index draws) {
  const Vector sorted = draw_outputs(chain, {991, DrawUse::Main, 0, draws}, 1, nullptr).front().lower;
  double sum = 0.0;
  const Index strata = 1000, each = draws / strata;
  for (Index i = 0; i < strata; ++i) {
    const double t = (static_cast<double>(i) + 0.5) / static_cast<double>(strata);
    const double off = sorted(i * each + each / 2) - naive_quantile(mixture, t);
    sum += off * off / static_cast<double>(strata);
  }
  return std::sqrt(sum);
}

TEST(OutputSimulation, FailsAsRarelyAsItSays) {
  Index failures = 0, bounds = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const SimulatedCase at = small_case(seed, 1);
    const CoupledChain chain(at.network, *at.trace);
    const SimulationSettings settings{.draws = 1024, .failure_probability = 0.1, .seed = seed};
    const Simulation made =
        OutputSimulation(chain_source(at.network, *at.trace, settings), settings).bound(at.trace->output);
    if (!std::isfinite(made.bound.w2)) continue;
    ++bounds;
    const double truth = sampled_distance(chain, at.trace->output, 20000);
    bool fails = made.bound.w2 < 0.99 * truth;
    if (made.closer) {
      EXPECT_LT(made.closer->w2, made.bound.w2);
      fails = fails || made.closer->w2 < 0.99 * sampled_distance(chain, made.closer->mixture, 20000) ||
              made.closer->moved < 0.99 * naive_distance(at.trace->output, made.closer->mixture) - 0.01;
    }
    failures += fails ? 1 : 0;
  }
  std::printf("%d of %d bounds below the distance at failure probability 0.1\n", static_cast<int>(failures),
              static_cast<int>(bounds));
  EXPECT_GE(bounds, 70);
  EXPECT_LE(10 * failures, bounds);
}

TEST(Marginals, FailAsRarelyAsTheySayAndAreThoseOfTheirOutputs) {
  Index failures = 0, cases = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const bool is_small = seed % 6 != 0;
    const SimulatedCase at =
        is_small ? small_case(seed, 3) : deep_case(16, 2, 0.5, ActivationFunction::Relu, seed, 3);
    const Options options;
    const SimulationRequest request{
        .network = at.network, .trace = &*at.trace, .mixture = at.trace->output, .options = options};
    const SimulationSettings settings{
        .draws = is_small ? 1024 : 20000, .failure_probability = 0.1, .seed = seed};
    const std::vector<SimulatedMarginal> marginals =
        simulated_marginals(request, chain_source(at.network, *at.trace, settings), settings, INFINITY);
    ASSERT_EQ(marginals.size(), 3U);
    bool fails = false;
    for (Index l = 0; l < 3; ++l) {
      const SimulatedMarginal& own = marginals[static_cast<std::size_t>(l)];
      if (!std::isfinite(own.w2)) continue;
      const Network alone = combined_output(at.network, Vector::Unit(3, l));
      const double truth = sampled_distance(CoupledChain(alone, *at.trace), own.mixture, 20000);
      const CoupledChain alone_chain(alone, *at.trace);
      const CoupledOutputs others =
          draw_coupled_outputs(alone_chain, {992, DrawUse::Main, 0, 20000}, 2, nullptr);
      const Vector means = others.network.row(0).transpose();
      const double mean = means.mean();
      const double error = std::sqrt((means.array() - mean).square().mean() / 20000.0);
      fails = fails || own.w2 < 0.99 * truth || own.mean_lower > mean + 4.0 * error ||
              own.mean_upper < mean - 4.0 * error;
      EXPECT_TRUE(is_small ||
                  own.mean_upper - own.mean_lower <= 0.2 * at.trace->output.standard_deviation()(l));
      EXPECT_TRUE(is_small || own.w2 <= 0.5 * at.trace->output.standard_deviation()(l));
    }
    ++cases;
    failures += fails ? 1 : 0;
  }
  std::printf("%d of %d sets of marginals have one below the distance at failure probability 0.1\n",
              static_cast<int>(failures), static_cast<int>(cases));
  EXPECT_LE(10 * failures, cases);
}

TEST(OutputSimulation, IsCloserThanTheCouplingAndAFitIsCloserStill) {
  for (const Index depth : {2, 3}) {
    const SimulatedCase at = deep_case(32, depth, 0.5, ActivationFunction::Relu, 4, 1);
    const Options options;
    const Simulation made = simulated_bound(
        {.network = at.network, .trace = &*at.trace, .mixture = at.trace->output, .options = options},
        {.draws = 200000, .seed = 1, .threads = 2});
    const CoupledChain chain(at.network, *at.trace);
    const SimulatedBound coupled = CouplingSimulation(chain, {.draws = 65536, .seed = 1, .threads = 2})
                                       .bound(at.trace->output.component(0));
    const double deviation = at.trace->output.standard_deviation()(0);
    ASSERT_TRUE(made.closer.has_value());
    std::printf("depth %d, in deviations: coupling %.4f, law %.4f, with %d components %.4f (about %.4f)\n",
                static_cast<int>(depth), coupled.w2 / deviation, made.bound.w2 / deviation,
                static_cast<int>(made.closer->mixture.size()), made.closer->w2 / deviation,
                sampled_distance(chain, made.closer->mixture, 200000) / deviation);
    EXPECT_EQ(made.bound.theorem, "F.11");
    EXPECT_LT(made.bound.w2, coupled.w2);
    EXPECT_LT(made.closer->w2, 0.9 * made.bound.w2);
    EXPECT_GT(made.closer->mixture.size(), 1);
  }
}

}  // namespace output_simulation_test
}  // namespace mixcert::testing
