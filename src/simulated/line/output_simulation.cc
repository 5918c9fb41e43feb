// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law of one output from its order statistics, and its tails from a logarithmic Sobolev inequality:
// docs/theory/simulation.md (F.11). What is known of the law holds for all mixtures at once, so that one may
// be fitted to the same draws.
#include "simulated/line/output_simulation.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/sample_limits.h"
#include "mixcert/network/ensemble.h"
#include "theorems/output_law/line_mixture.h"

namespace mixcert {
namespace {

/// Tails begin this much beyond the pilot's range: few draws should lie there.
constexpr double kBeyondPilot = 1.4;
/// How wide the band of quantiles is, about, in standard errors of a mean.
constexpr double kBandErrors = 20.0;
/// Numbers of components that are tried, and how much closer is worth more of them.
constexpr Index kCounts[] = {1, 2, 3, 5, 8, 12, 20};
constexpr double kWorthMore = 1.05;

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
    const UnitMixture unit = fit_mixture(target, count, kThoroughFit).mixture;
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

OutputSource chain_source(const Network& network, const MomentTrace& trace,
                          const SimulationSettings& settings) {
  const auto chain = std::make_shared<const CoupledChain>(network, trace);
  const Index outputs = network.outputs();
  const auto tail = [&network, &trace, outputs](Index output) -> SlopeTail {
    const Network own = combined_output(network, Vector::Unit(outputs, output));
    return {CoupledChain(own, trace),
            [](const SlopeMoments& moments, double q) { return moments.of_output(q); }};
  };
  const auto draw = [chain, settings](const DrawPlan& plan) {
    return draw_outputs(*chain, plan, settings.threads, settings.cancel);
  };
  return {draw, tail, outputs, chain->normal_count() + outputs, "F.11"};
}

LinePlan::LinePlan(SlopeTail tail, const OutputDraws& pilot, Index draws, double failure) : tail_(tail) {
  const double mean = pilot.lower.mean(), deviation = deviation_of(pilot.lower);
  // The mean of equal numbers may be rounded beyond them.
  const double least = pilot.lower(0), most = pilot.upper(pilot.count() - 1);
  lower_ = std::min(least, mean - kBeyondPilot * (mean - least));
  upper_ = std::max(most, mean + kBeyondPilot * (most - mean));
  const double beyond = largest_probability(0, draws, 0.25 * failure);
  const double tails = 2.0 * tail_.square_beyond(beyond);
  promised_ = std::sqrt(std::pow(kBandErrors * deviation, 2) / static_cast<double>(draws) + tails);
}

double LinePlan::probability_below(const OutputDraws& draws, double failure) const {
  const auto found = std::lower_bound(draws.lower.begin(), draws.lower.end(), lower_);
  return largest_probability(found - draws.lower.begin(), draws.count(), 0.25 * failure);
}

double LinePlan::probability_above(const OutputDraws& draws, double failure) const {
  const auto found = std::upper_bound(draws.upper.begin(), draws.upper.end(), upper_);
  return largest_probability(draws.upper.end() - found, draws.count(), 0.25 * failure);
}

KnownLaw LinePlan::law_of(const OutputDraws& draws, double failure) const {
  const auto root = [&](double probability) { return enlarged(std::sqrt(tail_.square_beyond(probability))); };
  // Half of the failure probability is the band's, a quarter that of either tail's count.
  const QuantileBand band(draws, 0.5 * failure);
  return {
      band,
      {{band.least(), root(band.first())}, {lower_, root(probability_below(draws, failure))}},
      {{band.most(), root(enlarged(1.0 - band.last()))}, {upper_, root(probability_above(draws, failure))}}};
}

namespace {

/// No less than the mean of a variable in [0, range] but for `failure`.
double limit_of_mean(const Vector& draws, double range, double failure) {
  const Index n = draws.size();
  const double rounding = 1.0 + rounding_gamma(2 * n + 64), mean = draws.mean();
  const double variance = (draws.array() - mean).square().sum() / static_cast<double>(n - 1);
  return largest_mean(enlarged(rounding * mean), enlarged(rounding * variance), range, n, failure);
}

}  // namespace

LinePlan::Range LinePlan::mean_of(const OutputDraws& draws, double law_failure, double failure) const {
  // y clipped to [c_-, c_+], and what is beyond either end.
  const auto beyond = [&](double probability) {
    return enlarged(std::sqrt(probability * tail_.square_beyond(probability)));
  };
  const double range = enlarged(upper_ - lower_);
  const Vector above_lower = positive_part((draws.upper.array() - lower_).matrix()).cwiseMin(range);
  const Vector below_upper = positive_part((upper_ - draws.lower.array()).matrix()).cwiseMin(range);
  const double up =
      limit_of_mean(above_lower, range, 0.5 * failure) + beyond(probability_above(draws, law_failure));
  const double down =
      limit_of_mean(below_upper, range, 0.5 * failure) + beyond(probability_below(draws, law_failure));
  const double rounding = 8.0 * kUnitRoundoff * (std::abs(lower_) + std::abs(upper_));
  return {upper_ - enlarged(down) - rounding, lower_ + enlarged(up) + rounding};
}

LineBound bound_on_line(const KnownLaw& law, const OutputDraws& draws, const GaussianMixture& stored,
                        Index components) {
  LineBound made{distance_on_line(law, LineLaw(stored)), std::nullopt};
  double least = made.w2;
  for (GaussianMixture& fit : fits_to(draws, components)) {
    const double w2 = distance_on_line(law, LineLaw(fit));
    if (!(kWorthMore * w2 < least)) continue;
    least = w2;
    made.closer = {std::move(fit), w2, 0.0};
  }
  if (made.closer)
    made.closer->moved = distance_on_line(known_mixture(LineLaw(stored)), LineLaw(made.closer->mixture));
  return made;
}

OutputSimulation::OutputSimulation(OutputSource source, const SimulationSettings& settings)
    : source_(std::move(source)),
      settings_(settings),
      plan_(source_.tail(0), source_.draw(settings.plan(DrawUse::Pilot, kPilotDraws)).front(), settings.draws,
            settings.failure_probability) {}

Simulation OutputSimulation::bound(const GaussianMixture& stored) const {
  Simulation made;
  made.bound.failure_probability = settings_.failure_probability;
  const auto n = static_cast<double>(settings_.draws);
  const double failure = failure_left(settings_, n * static_cast<double>(source_.normals));
  if (!(failure > 0.0)) {
    made.bound.gap = kNothingLeft;
    return made;
  }
  made.bound.theorem = source_.theorem;
  const OutputDraws draws = source_.draw(settings_.plan(DrawUse::Main, settings_.draws)).front();
  made.bound.draws = settings_.draws;
  LineBound line = bound_on_line(plan_.law_of(draws, failure), draws, stored, settings_.components);
  made.bound.w2 = line.w2;
  made.closer = std::move(line.closer);
  return made;
}

}  // namespace mixcert
