// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The period comes from exponential moments, the number of frequencies from the noise. Errors:
// docs/theory/stein.md (Y.2), (Y.4).
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "theorems/output_law/distribution.h"
#include "theorems/output_law/placed_neuron.h"
#include "theorems/output_law/transform_product.h"

namespace mixcert {
namespace {

// Exponents: of the terms left out of the series, and of what other periods add.
constexpr double kTruncation = 22.0;
constexpr double kAliasing = 22.0;
constexpr Index kMostFrequencies = 600;
constexpr double kLongestPeriod = 200.0;
// Orders at which a neuron's moments are certain to be too large are not tried.
constexpr double kHeaviestMoment = 20.0;
// Orders up to here are tried whatever the slopes are.
constexpr double kFirstOfHeavy = 2.0;
// Logarithm of what may lie beyond the usual range.
constexpr double kHeavyTail = -11.0;
// A period this much longer than the range is short enough.
constexpr double kShortEnough = 9.0;
// Noise is not Gaussian, and damps less than its variance says.
constexpr double kFirstGuess = 1.06;
// Logarithms of products are taken when they are this small.
constexpr double kSmallProduct = 1e-100;
// Errors above this are worth a second attempt.
constexpr double kLargeError = 1e-8;

class TransformBuilder {
 public:
  /// Strict: nodes are so good that nothing has to be damped. Nodes are good up to `frequency` at least.
  TransformBuilder(const OutputLaw& law, double unit, bool strict, double frequency = 0.0)
      : law_(law), unit_(unit) {
    double noise = law.bias_variance;
    for (const SummandNeuron& neuron : law.neurons) {
      noise += (1.0 - law.rate) * neuron.noise * neuron.noise * neuron.second;
    }
    guess_ = std::sqrt(2.0 * kTruncation / std::min(1.0, noise));
    const TransformAccuracy accuracy(std::max(guess_, frequency), law.neurons.size(), strict);
    placed_.reserve(law.neurons.size());
    for (const SummandNeuron& neuron : law.neurons) placed_.emplace_back(neuron, accuracy, law.rate);
  }

  DistributionSeries series() {
    DistributionSeries series;
    compute_tails();
    series.tails = tails_;
    series.range = range_;
    const double period = wanted_period(best_);
    if (!(period < kLongestPeriod)) return series;
    series.period = unit_ * std::ceil(period / unit_);
    const double h = 2.0 * std::numbers::pi / series.period;
    const Index count = frequencies(h);
    highest_ = h * static_cast<double>(count);
    if (count == 0) return series;
    series.error = transform({h, count}, series) + other_errors(series, highest_);
    series.error = enlarged(enlarged(series.error));
    series.exists = series.error < INFINITY && series.real.allFinite() && series.imaginary.allFinite();
    return series;
  }
  /// What series() went up to.
  [[nodiscard]] double highest_frequency() const { return highest_; }

 private:
  [[nodiscard]] TailMoments tails_of(double order) const {
    const double noise = enlarged(0.5 * order * order * law_.bias_variance);
    TailMoments tails{order, noise, noise};
    for (const PlacedNeuron& placed : placed_) {
      const NeuronNodes::LogMoments logs = placed.log_moments(order);
      tails.log_plus += logs.plus;
      tails.log_minus += logs.minus;
    }
    tails.log_plus = enlarged(tails.log_plus) + 1e-9;
    tails.log_minus = enlarged(tails.log_minus) + 1e-9;
    return tails;
  }

  /// Moments of all orders that may be finite; the best is the one with the shortest period.
  void compute_tails() {
    double steepest = 0.0;
    for (const PlacedNeuron& placed : placed_) steepest = larger_or_nan(steepest, placed.heavy_slope());
    double least = INFINITY, at_range = 0.0;
    for (const double order : kMomentOrders) {
      if (order > kFirstOfHeavy && order * steepest > kHeaviestMoment) continue;
      const TailMoments tails = tails_of(order);
      const double logs = larger_or_nan(tails.log_plus, tails.log_minus);
      if (!(logs < INFINITY)) continue;
      tails_.push_back(tails);
      at_range = std::min(at_range, logs - order * kGridRange);
      const double period = wanted_period(tails);
      if (period < least) {
        least = period;
        best_ = tails;
      }
      // A smaller order could gain little.
      if (least < kGridRange + kShortEnough) break;
    }
    if (at_range > kHeavyTail) range_ = kWideRange;
  }

  /// Other periods then add less than exp(-kAliasing).
  [[nodiscard]] double wanted_period(const TailMoments& tails) const {
    if (!(tails.order > 0.0)) return INFINITY;
    const double normal = 0.5 * tails.order * tails.order;
    const double log_total =
        larger_or_nan(larger_or_nan(tails.log_plus, tails.log_minus), normal) + std::log(4.0);
    return larger_or_nan(2.0 * range_, range_ + (log_total + kAliasing) / tails.order);
  }

  /// No less than sup |f| beyond t, by exp(-beta t^2/2) times the product of dampings at t.
  [[nodiscard]] double log_damping(double t) const {
    double sum = reduced(-0.5 * t * t * law_.bias_variance);
    double product = 1.0;
    for (const PlacedNeuron& placed : placed_) {
      product *= placed.damping(t);
      if (product > kSmallProduct) continue;
      sum += std::log(product);
      product = 1.0;
    }
    return sum + std::log(product) + 1e-9;
  }

  /// How many are needed for exp(-kTruncation); 0: too many.
  Index frequencies(double h) {
    double t = kFirstGuess * guess_;
    for (int attempt = 0; attempt < 12; ++attempt) {
      const Index count = static_cast<Index>(std::ceil(t / h));
      if (count > kMostFrequencies) return 0;
      t = h * static_cast<double>(count);
      // Terms beyond t: psi(t) / (pi t^2 beta) (Y.2).
      log_left_out_ = log_damping(t) - std::log(std::numbers::pi * t * t * law_.bias_variance);
      if (log_left_out_ <= -kTruncation + 1.0) return count;
      const double decay = std::max(1e-3, -log_left_out_);
      // Noise decays like exp(-t^2), but slower where activations may be zero.
      const double missing = kTruncation / decay;
      t *= std::clamp(attempt < 2 ? std::sqrt(missing) : missing, 1.05, 2.0);
    }
    return 0;
  }

  /// The largest first: then products soon are negligible at high frequencies.
  [[nodiscard]] std::vector<std::size_t> by_share() const {
    std::vector<std::size_t> order(placed_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return placed_[a].share() != placed_[b].share() ? placed_[a].share() > placed_[b].share() : a < b;
    });
    return order;
  }

  /// Returns (1/pi) sum_k df(kh)/k.
  double transform(const Frequencies& frequencies, DistributionSeries& series) const {
    TransformProduct product(frequencies, law_.bias_variance);
    TransformFactor factor(frequencies.time.size());
    for (const std::size_t j : by_share()) {
      factor.resize(product.active());
      placed_[j].write_factor(frequencies, factor);
      product.multiply(factor);
    }
    series.real.resize(frequencies.count);
    series.imaginary.resize(frequencies.count);
    const double rounding = 16.0 * (static_cast<double>(placed_.size()) + 8.0) * kUnitRoundoff;
    double sum = 0.0;
    for (Index k = 0; k < frequencies.count; ++k) {
      const double t = frequencies.spacing * static_cast<double>(k + 1);
      series.real(k) = product.real(k) - std::exp(-0.5 * t * t);
      series.imaginary(k) = product.imaginary(k);
      sum += (product.error(k) + rounding) / static_cast<double>(k + 1);
    }
    return sum / std::numbers::pi;
  }

  /// The rest of the series, other periods, and the mean of Y (Y.2).
  [[nodiscard]] double other_errors(const DistributionSeries& series, double top) const {
    double mean = 0.0;
    for (const SummandNeuron& neuron : law_.neurons) mean += std::abs(neuron.weight) * neuron.center_error;
    const TailMoments& tails = best_;
    const double left = -tails.order * (series.period - range_);
    const double other = (std::exp(tails.log_plus + left) + std::exp(tails.log_minus + left) +
                          2.0 * std::exp(0.5 * tails.order * tails.order + left)) /
                         (1.0 - std::exp(-tails.order * series.period));
    const double normal = std::exp(-0.5 * top * top) / (std::numbers::pi * top * top);
    return std::exp(log_left_out_) + normal + other + mean / series.period;
  }

  const OutputLaw& law_;
  double range_ = kGridRange, unit_;
  std::vector<TailMoments> tails_;
  TailMoments best_;
  double guess_ = 0.0, highest_ = 0.0;
  double log_left_out_ = 0.0;  ///< of the terms of higher frequency
  std::vector<PlacedNeuron> placed_;
};

}  // namespace

DistributionSeries distribution_series(const OutputLaw& law, double unit) {
  if (!(law.bias_variance > 0.0)) return {};
  TransformBuilder first(law, unit, false);
  DistributionSeries best = first.series();
  // Again where errors are large: nodes that are good for all frequencies that were needed, then better ones.
  for (const bool strict : {false, true}) {
    if (best.exists && best.error < kLargeError) break;
    DistributionSeries next = TransformBuilder(law, unit, strict, first.highest_frequency()).series();
    if (next.exists && !(best.exists && best.error < next.error)) best = std::move(next);
  }
  return best;
}

}  // namespace mixcert
