// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law of one output from its order statistics, and its tails from a logarithmic Sobolev inequality:
// docs/theory/simulation.md (F.11). What is known of the law holds for all mixtures at once, so that one may
// be fitted to the same draws.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/sample_limits.h"
#include "simulated/known_law.h"
#include "simulated/simulated_bound.h"
#include "theorems/output_law/line_mixture.h"

namespace mixcert {
namespace {

/// Tails begin this much beyond the pilot's range: few draws should lie there.
constexpr double kBeyondPilot = 1.4;
/// How wide the band of quantiles is, about, in standard errors of a mean.
constexpr double kBandErrors = 20.0;
/// Numbers of components that are tried, and how much closer is worth more of them.
constexpr Index kCounts[] = {1, 2, 3, 5};
constexpr double kWorthMore = 1.05;

SlopeTail tail_of(const CoupledChain& chain) {
  return {chain, [](const SlopeMoments& moments, double q) { return moments.of_output(q); }};
}

double deviation_of(const Vector& draws) { return std::sqrt((draws.array() - draws.mean()).square().mean()); }

/// Mixtures of one component and more with the draws' mean and deviation.
std::vector<GaussianMixture> fits_to(const OutputDraws& draws, Index most) {
  const Vector& sorted = draws.lower;
  const double mean = sorted.mean(), deviation = deviation_of(sorted);
  if (!(deviation > 0.0) || !std::isfinite(deviation)) return {};
  const auto share_below = [&](double unit) {
    const auto place = std::upper_bound(sorted.begin(), sorted.end(), mean + deviation * unit);
    return static_cast<double>(place - sorted.begin()) / static_cast<double>(sorted.size());
  };
  const Eigen::ArrayXd nodes = FitTarget::nodes();
  const double half = 0.5 * (nodes(1) - nodes(0));
  const FitTarget target{nodes.unaryExpr(share_below), nodes.unaryExpr([&](double unit) {
                           return (share_below(unit + half) - share_below(unit - half)) / (2.0 * half);
                         })};
  std::vector<GaussianMixture> fits;
  for (const Index count : kCounts) {
    if (most > 0 && count > most) break;
    const UnitMixture unit = fit_mixture(target, count).mixture;
    std::vector<Gaussian> components;
    for (std::size_t i = 0; i < unit.means.size(); ++i) {
      const double own = deviation * unit.deviations[i];
      components.push_back({Vector::Constant(1, mean + deviation * unit.means[i]),
                            Covariance::diagonal(Vector::Constant(1, own * own))});
    }
    fits.emplace_back(Eigen::Map<const Vector>(unit.weights.data(), count), std::move(components));
  }
  return fits;
}

}  // namespace

OutputSimulation::OutputSimulation(const CoupledChain& chain, const SimulationSettings& settings)
    : chain_(chain), settings_(settings), tail_(tail_of(chain)) {
  const DrawPlan plan{settings.seed, DrawUse::Pilot, settings.input, kPilotDraws};
  const OutputDraws pilot = draw_output(chain, plan, settings.threads, settings.cancel);
  const double mean = pilot.lower.mean(), deviation = deviation_of(pilot.lower);
  lower_ = mean - kBeyondPilot * (mean - pilot.lower(0));
  upper_ = mean + kBeyondPilot * (pilot.upper(kPilotDraws - 1) - mean);
  const double beyond = largest_probability(0, settings.draws, 0.25 * settings.failure_probability);
  const double tails = 2.0 * tail_.square_beyond(beyond);
  promised_ = std::sqrt(std::pow(kBandErrors * deviation, 2) / static_cast<double>(settings.draws) + tails);
}

Simulation OutputSimulation::bound(const GaussianMixture& stored) const {
  Simulation made;
  made.bound.failure_probability = settings_.failure_probability;
  const auto n = static_cast<double>(settings_.draws);
  const double failure = failure_left(settings_, n * static_cast<double>(chain_.normal_count() + 1));
  if (!(failure > 0.0)) {
    made.bound.gap = "the failure probability is below what the generator may lose";
    return made;
  }
  made.bound.theorem = "F.11";
  const DrawPlan plan{settings_.seed, DrawUse::Main, settings_.input, settings_.draws};
  const OutputDraws draws = draw_output(chain_, plan, settings_.threads, settings_.cancel);
  const auto root = [&](double probability) { return enlarged(std::sqrt(tail_.square_beyond(probability))); };
  // Half of the failure probability is the band's, a quarter that of either tail's count.
  const QuantileBand band(draws, 0.5 * failure);
  const Index below = std::lower_bound(draws.lower.begin(), draws.lower.end(), lower_) - draws.lower.begin();
  const Index above = draws.upper.end() - std::upper_bound(draws.upper.begin(), draws.upper.end(), upper_);
  const auto counted_root = [&](Index count) {
    return root(largest_probability(count, settings_.draws, 0.25 * failure));
  };
  const KnownLaw law{band,
                     {{band.least(), root(band.first())}, {lower_, counted_root(below)}},
                     {{band.most(), root(enlarged(1.0 - band.last()))}, {upper_, counted_root(above)}}};
  made.bound.draws = settings_.draws;
  made.bound.w2 = distance_on_line(law, LineLaw(stored));
  double least = made.bound.w2;
  for (GaussianMixture& fit : fits_to(draws, settings_.components)) {
    const double w2 = distance_on_line(law, LineLaw(fit));
    if (!(kWorthMore * w2 < least)) continue;
    least = w2;
    made.closer = {std::move(fit), w2, 0.0};
  }
  if (made.closer)
    made.closer->moved = distance_on_line(known_mixture(LineLaw(stored)), LineLaw(made.closer->mixture));
  return made;
}

}  // namespace mixcert
