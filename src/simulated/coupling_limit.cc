// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/coupling_limit.h"

#include <algorithm>
#include <cmath>

#include "core/sample_limits.h"
#include "mixcert/core/rounding.h"
#include "simulated/box_muller.h"
#include "simulated/simulation_settings.h"

namespace mixcert {
namespace {

/// The clip is this much above the largest cost of the pilot: few draws should lie beyond it.
constexpr double kBeyondLargest = 1.5;
/// Draws are enough where the bound is this close to the coupling.
constexpr double kEnough = 1.05;

}  // namespace

double failure_left(const SimulationSettings& settings, double normals) {
  return settings.failure_probability - enlarged(normals * kLostProbability);
}

ClippedCosts::ClippedCosts(const Vector& costs, double clip) : draws(costs.size()) {
  beyond = (costs.array() > clip).count();
  const Vector clipped = costs.cwiseMin(clip);
  // Draws may be more than what (R.10) counts.
  const double rounding = 1.0 + rounding_gamma(2 * draws + 64);
  mean = enlarged(rounding * clipped.mean());
  variance =
      enlarged(rounding * (clipped.array() - clipped.mean()).square().sum() / static_cast<double>(draws - 1));
}

double mean_cost_bound(const ClippedCosts& costs, double clip, const SlopeTail& tail, double failure) {
  const double mean = largest_mean(costs.mean, costs.variance, clip, costs.draws, 0.5 * failure);
  const double beyond = largest_probability(costs.beyond, costs.draws, 0.5 * failure);
  const double square = tail.square_beyond(beyond);
  return enlarged(mean + 2.0 * std::sqrt(clip * beyond * square) + square);
}

CouplingPlan::CouplingPlan(const Vector& pilot, const SlopeTail& tail, Index most, double failure)
    : clip(kBeyondLargest * kBeyondLargest * pilot.array().isFinite().select(pilot, 0.0).maxCoeff()),
      draws(1024) {
  ClippedCosts expected(pilot, clip);
  expected.beyond = 0;
  const auto promise = [&](Index count) {
    expected.draws = count;
    return mean_cost_bound(expected, clip, tail, failure);
  };
  while (draws < most && !(promise(draws) <= kEnough * kEnough * expected.mean)) draws *= 2;
  draws = std::min(draws, most);
  promised = std::sqrt(promise(draws));
}

}  // namespace mixcert
