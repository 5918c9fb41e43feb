// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Planners of the moment method that are wrong in every way they can be: their choices are refused, or the
// bound holds all the same. What a bound is computed from cannot be written by anyone else.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "certificate/reduction.h"
#include "methods/bad_choices.h"
#include "methods/moment/moment_certificate.h"
#include "methods/moment/moment_tracer.h"
#include "mixcert/core/error.h"
#include "theorems/theorem_table.h"

namespace mixcert::testing {
namespace lying_planner_test {

/// Is what the expression yields out of reach of assignments?
#define MIXCERT_READ_ONLY(Type, member) \
  static_assert(std::is_const_v<std::remove_reference_t<decltype((std::declval<Sealed<Type>&>()->member))>>)

MIXCERT_READ_ONLY(MomentTrace, settled);
MIXCERT_READ_ONLY(MomentTrace, output);
MIXCERT_READ_ONLY(MomentTrace, first.norm);
MIXCERT_READ_ONLY(MomentTrace, first.error);
MIXCERT_READ_ONLY(MomentTrace, first.squares);
MIXCERT_READ_ONLY(MomentTrace, first.raise);
MIXCERT_READ_ONLY(MomentTrace, layers[0].pieces);
MIXCERT_READ_ONLY(MomentTrace, layers[0].surrogates);
MIXCERT_READ_ONLY(MomentTrace, layers[0].surrogates[0].rest);
MIXCERT_READ_ONLY(MomentTrace, layers[0].surrogates[0].error);
MIXCERT_READ_ONLY(MomentTrace, layers[0].surrogates[0].second_error);
MIXCERT_READ_ONLY(MomentTrace, layers[0].surrogates[0].square_rest);
MIXCERT_READ_ONLY(MomentTrace, layers[0].surrogates[0].mask_cost);
MIXCERT_READ_ONLY(CompressionTrace, plan);
MIXCERT_READ_ONLY(CompressionTrace, after);

// Nobody makes one from a trace of his own, and no certificate takes such a trace.
static_assert(!std::is_constructible_v<Sealed<MomentTrace>, MomentTrace>);
static_assert(!std::is_assignable_v<Sealed<MomentTrace>&, MomentTrace>);
static_assert(!std::is_constructible_v<Sealed<MomentLayerTrace>, MomentLayerTrace>);
static_assert(!std::is_constructible_v<Sealed<CompressionTrace>, CompressionTrace>);
static_assert(!std::is_invocable_v<decltype(evaluate_moment_certificate), const Network&, const Sensitivity&,
                                   const ErrorNorms&, const MomentTrace&>);

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Sealed<MomentTrace> traced(const Network& network, const MomentPlanner& planner) {
  return MomentTracer(network, probe(network)).trace(0, planner);
}

/// The choices are refused.
void expect_refused(const Network& network, const MomentPlanner& planner) {
  EXPECT_THROW(traced(network, planner), InvalidArgument);
}

/// The bound, sharpened or not, is no less than what samples of the network prove.
void expect_certified(const Network& network, const MomentPlanner& planner) {
  const Sealed<MomentTrace> trace = traced(network, planner);
  const ErrorNorms error_norms = make_error_norms(network, SensitivityMode::Closed);
  const Certificate plain =
      evaluate_moment_certificate(network, analyse_sensitivity(network), error_norms, trace);
  const Certificate sharpened = sharpened_certificate(theorem_table(), network, error_norms, trace, plain);
  const double lower = proven_distance(network, trace->output);
  EXPECT_GE(plain.w2.value, lower);
  EXPECT_GE(sharpened.w2.value, lower);
}

/// All components but the first go into one.
std::vector<Index> careless_clusters(const GaussianMixture& mixture) {
  std::vector<Index> clusters(static_cast<std::size_t>(mixture.size()), 1);
  clusters.front() = 0;
  return clusters;
}

/// Splits every component by the first rule of the table, along a direction of its own making.
MomentChoices split_along(const GaussianMixture& mixture, const Vector& direction) {
  MomentChoices choices;
  choices.splits.assign(static_cast<std::size_t>(mixture.size()), {{direction, &split_rules().front()}});
  return choices;
}

/// A split that every component allows.
MomentChoices small_split(const GaussianMixture& mixture) {
  MomentChoices choices;
  for (const Gaussian& component : mixture.components()) {
    const double deviation = std::sqrt(component.covariance.variances()(0));
    const Vector unit = Vector::Unit(mixture.dimension(), 0) * (0.5 / deviation);
    choices.splits.push_back({{component.covariance.times(unit), &split_rules().front()}});
  }
  return choices;
}

TEST(LyingPlanner, AnythingThatFitsIsCertified) {
  for (const Network& network : {small_network(Mask()), small_network(Mask::bernoulli(0.2))}) {
    expect_certified(network, [](Index, const GaussianMixture&) { return MomentChoices{}; });
    expect_certified(network, [](Index, const GaussianMixture& m) { return small_split(m); });
    expect_certified(network, [](Index layer, const GaussianMixture& mixture) {
      if (layer == 1) return small_split(mixture);
      MomentChoices choices;
      choices.reduction = merge_components(mixture, careless_clusters(mixture));
      return choices;
    });
  }
  const Network masked = small_network(Mask::bernoulli(0.2));
  expect_certified(masked, [&](Index layer, const GaussianMixture& mixture) {
    MomentChoices choices;
    choices.masks.split(0, mixture.dimension() - 1, masked.mask(layer));
    choices.masks.split(1, 0, masked.mask(layer));
    return choices;
  });
}

TEST(LyingPlanner, ReductionsOfOtherMixturesAreRefused) {
  const Network network = small_network(Mask());
  expect_refused(network, [](Index, const GaussianMixture& mixture) {
    // Equal in every number, and still not the law that came out of the layer.
    const GaussianMixture twin(mixture.weights(), mixture.components());
    MomentChoices choices;
    choices.reduction = merge_components(twin, {0});
    return choices;
  });
  Sealed<CompressionTrace> kept;
  expect_refused(network, [&](Index, const GaussianMixture& mixture) {
    if (kept.is_empty()) kept = merge_components(mixture, {0});
    MomentChoices choices;
    choices.reduction = kept;
    return choices;
  });
}

TEST(LyingPlanner, ClustersAreAPartition) {
  const GaussianMixture mixture = pair_of_gaussians();
  for (const std::vector<Index>& clusters :
       std::vector<std::vector<Index>>{{}, {0}, {0, 0, 0}, {1, 0}, {0, 2}, {-1, 0}}) {
    EXPECT_THROW(merge_components(mixture, clusters), InvalidArgument);
  }
}

TEST(LyingPlanner, PlansAreCouplings) {
  const Sealed<CompressionTrace> merged = merge_components(pair_of_gaussians(), {0, 1});
  const double w = merged->before.weights()(0);
  EXPECT_EQ(with_plan(merged, {{0, 0, w}, {1, 1, 1.0 - w}})->plan.size(), 2U);
  using Plan = std::vector<PlanEntry>;
  for (const Plan& plan :
       {Plan{}, Plan{{0, 0, w}}, Plan{{0, 0, 1.0 - w}, {1, 1, w}}, Plan{{0, 0, w + 1e-8}, {1, 1, 1.0 - w}},
        Plan{{0, 0, kNan}, {1, 1, 1.0 - w}}, Plan{{0, 0, w}, {1, 1, 1.0 - w}, {0, 1, -0.1}, {0, 0, 0.1}},
        Plan{{0, 0, w}, {1, 2, 1.0 - w}}, Plan{{0, 0, w}, {-1, 1, 1.0 - w}}}) {
    EXPECT_THROW(with_plan(merged, plan), InvalidArgument);
  }
}

TEST(LyingPlanner, MassThatAPlanMissesIsCharged) {
  const Sealed<CompressionTrace> merged = merge_components(pair_of_gaussians(), {0, 1});
  const double w = merged->before.weights()(0), missing = 1e-10;
  const Vector g = Vector::Ones(merged->before.dimension());
  const UpperBound unit = UpperBound::exact(1.0);
  EXPECT_LT(compression_distances(*merged, g, unit).w2.upper, 1e-6);
  // Too much is taken away, too little costs what it may cost to move from one component to the other.
  const Sealed<CompressionTrace> more = with_plan(merged, {{0, 0, w + missing}, {1, 1, 1.0 - w}});
  EXPECT_LE(more->plan.front().mass, w);
  const Sealed<CompressionTrace> less = with_plan(merged, {{0, 0, w - missing}, {1, 1, 1.0 - w}});
  const Vector difference = merged->before.component(0).mean - merged->before.component(1).mean;
  EXPECT_GE(compression_distances(*less, g, unit).w2.upper, 0.5 * std::sqrt(missing) * difference.norm());
}

TEST(LyingPlanner, SplitsArePartsOfTheirComponents) {
  for (const bool correlated : {false, true}) {
    const Network network = correlated ? correlated_network() : small_network(Mask());
    const auto refuses = [&](const auto& direction_of) {
      expect_refused(network, [&](Index, const GaussianMixture& mixture) {
        return split_along(mixture, direction_of(mixture));
      });
    };
    refuses([](const GaussianMixture& m) -> Vector { return Vector::Zero(m.dimension() + 1); });
    refuses([](const GaussianMixture& m) -> Vector { return Vector::Constant(m.dimension(), kNan); });
    refuses([](const GaussianMixture& m) -> Vector { return Vector::Constant(m.dimension(), INFINITY); });
    refuses([](const GaussianMixture& m) -> Vector {
      return 1.01 * Vector(m.component(0).covariance.variances().cwiseSqrt());
    });
  }
}

TEST(LyingPlanner, SplitsHaveRulesOfTheTable) {
  const Network network = small_network(Mask());
  SplitRule free_of_charge = split_rules().front();
  free_of_charge.error = 0.0;
  for (const SplitRule* rule :
       {static_cast<const SplitRule*>(&free_of_charge), static_cast<const SplitRule*>(nullptr)}) {
    expect_refused(network, [rule](Index, const GaussianMixture& mixture) {
      MomentChoices choices = small_split(mixture);
      choices.splits[0][0].rule = rule;
      return choices;
    });
  }
  expect_refused(network, [](Index, const GaussianMixture& mixture) {
    MomentChoices choices = small_split(mixture);
    choices.splits.emplace_back();
    return choices;
  });
}

TEST(LyingPlanner, MasksAreThoseOfTheLayer) {
  const Mask mask = Mask::bernoulli(0.2);
  const auto asking = [](Index neuron, const Mask& own) {
    return [neuron, own](Index, const GaussianMixture&) {
      MomentChoices choices;
      choices.masks.split(0, neuron, own);
      return choices;
    };
  };
  expect_refused(small_network(mask), asking(0, Mask::bernoulli(0.3)));
  expect_refused(small_network(mask), asking(1000, mask));
  expect_refused(small_network(Mask()), asking(0, mask));
  expect_refused(small_network(Mask::gaussian(0.2)), asking(0, mask));
  MaskTree tree;
  tree.split(0, 0, mask);
  EXPECT_THROW(tree.split(0, 1, Mask::bernoulli(0.3)), InvalidArgument);
  EXPECT_THROW(tree.split(2, 1, mask), InvalidArgument);
  EXPECT_THROW(tree.split(0, -1, mask), InvalidArgument);
  EXPECT_THROW(tree.split(0, 0, mask), InvalidArgument);
}

TEST(LyingPlanner, LayersAreThoseOfTheNetwork) {
  const Network network = small_network(Mask());
  const GaussianMixture other = pair_of_gaussians();
  EXPECT_THROW(trace_moment_layer(network, 1, other, {}), InvalidArgument);
  EXPECT_THROW(trace_moment_layer(network, 0, other, {}), InvalidArgument);
  EXPECT_THROW(trace_moment_layer(network, 9, other, {}), InvalidArgument);
  EXPECT_THROW(MomentTracer(network, Vector::Ones(network.inputs() + 1)), InvalidArgument);
  const auto evaluate = [&](const Sealed<MomentTrace>& trace) {
    return evaluate_moment_certificate(network, analyse_sensitivity(network),
                                       make_error_norms(network, SensitivityMode::Closed), trace);
  };
  EXPECT_THROW(evaluate(Sealed<MomentTrace>()), InvalidArgument);
}

}  // namespace lying_planner_test
}  // namespace mixcert::testing
