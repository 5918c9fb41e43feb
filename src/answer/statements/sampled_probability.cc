// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sampled dual bounds (U.6). The width is chosen on a pilot sample, so that the samples that count are
// independent of it; they are drawn in pieces, so that memory does not grow with their number times the
// outputs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "answer/dual_bounds.h"
#include "mixcert/core/rounding.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert {
namespace {

constexpr Index kPieceSamples = 8192;
// Streams of the pilot and of the samples that count.
constexpr std::uint64_t kPilot = std::uint64_t{1} << 40U;
constexpr std::uint64_t kMain = std::uint64_t{2} << 40U;

/// The statement and the law, restricted to the outputs that the statement speaks of.
struct Restriction {
  GaussianMixture mixture;
  Polyhedron polyhedron;
};

Restriction restrict(const GaussianMixture& mixture, const Statement& statement) {
  std::vector<Index> spoken;
  for (Index i = 0; i < mixture.dimension(); ++i) {
    if (statement.rows.col(i).cwiseAbs().maxCoeff() > 0.0) spoken.push_back(i);
  }
  Statement part{Matrix(statement.rows.rows(), static_cast<Index>(spoken.size())), statement.thresholds};
  for (std::size_t i = 0; i < spoken.size(); ++i)
    part.rows.col(static_cast<Index>(i)) = statement.rows.col(spoken[i]);
  return {mixture.marginal(spoken), Polyhedron(part)};
}

/// Distances of samples: to the set, to the complement, and which lie inside.
struct Sampled {
  Vector to_set;
  Vector to_complement;
  double inside = 0.0;  ///< share
};

Sampled sample_distances(const Restriction& problem, Index samples, double enough, std::uint64_t seed,
                         std::uint64_t index) {
  Sampled drawn{Vector(samples), Vector(samples)};
  Index inside = 0;
  for (Index begin = 0; begin < samples; begin += kPieceSamples) {
    const Index count = std::min(kPieceSamples, samples - begin);
    const Matrix points = sample_mixture(problem.mixture, count, seed, Stream::Mixture,
                                         index + static_cast<std::uint64_t>(begin / kPieceSamples));
    const Polyhedron::Distances distances = problem.polyhedron.distances(points, enough);
    drawn.to_set.segment(begin, count) = distances.to_set;
    drawn.to_complement.segment(begin, count) = distances.to_complement;
    inside += distances.inside;
  }
  drawn.inside = static_cast<double>(inside) / static_cast<double>(samples);
  return drawn;
}

/// A dual function 1 - (d/width)^order and its price (distance/width)^order.
struct Smoothing {
  double width = 0.0;
  int order = 2;
  double price = 1.0;  ///< rounded up
  double value = 1.0;  ///< of the bound, on the pilot sample

  [[nodiscard]] double at(double distance) const {
    if (width == 0.0) return distance == 0.0 ? 1.0 : 0.0;
    const double share = distance / width;
    return share >= 1.0 ? 0.0 : 1.0 - (order == 2 ? share * share : share);
  }
};

/// The width at which moving all within it costs the distance, (U.4), on samples sorted by distance.
Smoothing smoothing_for(const Vector& sorted, double distance, int order) {
  const auto count = static_cast<double>(sorted.size());
  if (!std::isfinite(distance)) return {};
  Smoothing smoothing{0.0, order, 0.0, 1.0};
  if (distance > 0.0) {
    double cost = 0.0;
    for (Index i = 0; i < sorted.size() && cost <= std::pow(distance, order); ++i) {
      smoothing.width = sorted(i);
      cost += std::pow(sorted(i), order) / count;
    }
    if (cost <= std::pow(distance, order) || smoothing.width == 0.0) return {};
    const double ratio = next_up(distance / smoothing.width);
    smoothing.price = order == 2 ? next_up(ratio * ratio) : ratio;
  }
  double sum = 0.0;
  for (const double d : sorted) sum += smoothing.at(d);
  smoothing.value = std::min(1.0, sum / count + smoothing.price);
  return smoothing;
}

Smoothing best_smoothing(Vector distances, double w2, double w1) {
  std::sort(distances.begin(), distances.end());
  const Smoothing second = smoothing_for(distances, w2, 2);
  const Smoothing first = smoothing_for(distances, w1, 1);
  return first.value < second.value ? first : second;
}

}  // namespace

double sampling_error(const GaussianMixture& mixture, const GaussianMixture& part) {
  const Index n = part.dimension();
  double largest = 0.0;
  for (Index c = 0; c < part.size(); ++c) {
    const Covariance& whole = mixture.component(c).covariance;
    const double trace = positive_part(part.component(c).covariance.trace());
    const double gamma = rounding_gamma(16 * n * n + 4 * n * whole.rank() + 64);
    const double factor = std::sqrt(gamma * trace + 2.0 * static_cast<double>(n) * negative_part(whole));
    const double rounding = rounding_gamma(8 * n + 64) *
                            (part.component(c).mean.norm() + std::sqrt(static_cast<double>(n) * trace));
    largest = larger_or_nan(largest, factor + rounding);
  }
  return next_up(largest * (1.0 + 1e-12) + std::numeric_limits<double>::min());
}

ProbabilityAnswer sampled_probability(const CertifiedLaw& law, const Statement& statement,
                                      const IntegrationOptions& options) {
  const Restriction problem = restrict(law.mixture(), statement);
  const double error = sampling_error(law.mixture(), problem.mixture);
  const double w2 = next_up(law.w2() + error);
  const double w1 = next_up(law.w1() + error);
  const Index pilot_samples = std::max<Index>(1000, options.samples / 10);
  const Sampled pilot = sample_distances(problem, pilot_samples, kInfinity, options.seed, kPilot);
  const Smoothing set = best_smoothing(pilot.to_set, w2, w1);
  const Smoothing complement = best_smoothing(pilot.to_complement, w2, w1);
  const Sampled drawn = sample_distances(problem, options.samples, set.width, options.seed, kMain);
  Matrix values(2, options.samples);
  for (Index s = 0; s < options.samples; ++s) {
    values(0, s) = set.at(drawn.to_set(s));
    values(1, s) = complement.at(drawn.to_complement(s));
  }
  const std::vector<Interval> means = sampled_means(values, options.failure_probability);
  const double upper = std::min(1.0, next_up(means[0].upper + set.price));
  const double outside = std::min(1.0, next_up(means[1].upper + complement.price));
  const Interval interval{drawn.inside, positive_part(next_down(1.0 - outside)), upper};
  return {interval, options.failure_probability, complement.width, set.width};
}

}  // namespace mixcert
