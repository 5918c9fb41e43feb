// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Neurons that move the sum little enter by their moments (Y.15), the others by nodes; the period comes from
// exponential moments, the number of frequencies from the noise. Errors: docs/theory/stein.md (Y.2), (Y.4).
#include "certify/line_transform.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "certify/line_concentration.h"
#include "certify/line_powers.h"
#include "certify/line_product.h"

namespace mixcert {
namespace {

// Exponents: of the terms left out of the series, and of what other periods add.
constexpr double kTruncation = 22.0;
constexpr double kAliasing = 22.0;
// Of all neurons' quadratures together, where errors are damped.
constexpr double kAccuracy = 20.0;
constexpr Index kMostFrequencies = 600;
constexpr double kLongestPeriod = 200.0;
constexpr double kOrders[] = {5.25, 3.5, 2.0};
// A period this much longer than the range is short enough.
constexpr double kShortEnough = 9.0;
// Neurons with more than this share of the variance are not damped by the others.
constexpr double kLargestShare = 0.6;
constexpr double kDecayOfRest = 0.8;
// Variance of the Gaussian that bounds a neuron's exponential moments, beyond the neuron's own.
constexpr double kMostExcess = 0.06;
// Of moments; with a larger error the nodes themselves are better.
constexpr double kMostPowerError = 1e-9;
// Moments are integrated for this frequency, or for a lower one where noise times slope is this at most.
constexpr double kHighestByPowers = 5.0;
constexpr double kLowestByPowers = 2.0;
constexpr double kLargestSpread = 0.55;
// Noise is not Gaussian, and damps less than its variance says.
constexpr double kFirstGuess = 1.06;
// Logarithms of products are taken when they are this small.
constexpr double kSmallProduct = 1e-100;
// Errors above this are worth a second attempt.
constexpr double kLargeError = 1e-8;

/// One neuron with its nodes.
struct PlacedNeuron {
  LineConcentration concentration;
  bool is_heavy = false;  ///< exponential moments by nodes
  int powers = 0;         ///< moments to be used; 0: none
  double decay = 0.0;
  double most = 0.0;  ///< moments are integrated for this frequency
  LineNodes nodes;

  PlacedNeuron(const LineNeuron& neuron, double frequency, double exponent, bool strict)
      : concentration(neuron), nodes(neuron, demand(neuron, frequency, exponent, strict)) {}

 private:
  LineDemand demand(const LineNeuron& neuron, double frequency, double exponent, bool strict) {
    const double square = neuron.weight * neuron.weight;
    const double own = square * std::max(0.0, neuron.second - neuron.center * neuron.center);
    const double share = own + neuron.noise * neuron.noise * neuron.second;
    const double bound = concentration.deviation();
    is_heavy = strict || share > kLargestShare || square * bound * bound - own > kMostExcess;
    if (!strict && share <= kLargestShare) decay = kDecayOfRest * (1.0 - share);
    const double spread = neuron.noise * concentration.slope();
    most = std::min({frequency, kHighestByPowers, kLargestSpread / (spread + 1e-9)});
    if (decay > 0.0 && !is_heavy && most > kLowestByPowers) powers = line_power_count(share, decay);
    if (powers > 0) return {most, 0.0, decay, exponent, true};
    return {frequency, !is_heavy ? 0.0 : strict ? kOrders[0] : kOrders[1], decay, exponent, false};
  }
};

class TransformBuilder {
 public:
  /// Strict: nodes are so good that nothing has to be damped.
  TransformBuilder(const LineLaw& law, double range, double unit, bool strict)
      : law_(law), range_(range), unit_(unit) {
    double noise = law.bias_variance;
    for (const LineNeuron& neuron : law.neurons) noise += neuron.noise * neuron.noise * neuron.second;
    guess_ = std::sqrt(2.0 * kTruncation / std::min(1.0, noise));
    placed_.reserve(law.neurons.size());
    const double exponent = kAccuracy + std::log(static_cast<double>(law.neurons.size()));
    for (const LineNeuron& neuron : law.neurons) placed_.emplace_back(neuron, guess_, exponent, strict);
  }

  LineSeries series() {
    LineSeries series;
    series.tails = tails();
    const double period = wanted_period(series.tails);
    if (!(period < kLongestPeriod)) return series;
    series.period = unit_ * std::ceil(period / unit_);
    const double h = 2.0 * std::numbers::pi / series.period;
    const Index count = frequencies(h);
    if (count == 0) return series;
    series.error = transform({h, count}, series) + other_errors(series, h * static_cast<double>(count));
    series.error *= kSafety * kSafety;
    series.exists = series.error < INFINITY && series.real.allFinite() && series.imaginary.allFinite();
    return series;
  }

 private:
  [[nodiscard]] LineTails tails_of(double order) const {
    const double noise = 0.5 * order * order * law_.bias_variance * kSafety;
    LineTails tails{order, noise, noise};
    for (std::size_t j = 0; j < placed_.size(); ++j) {
      const PlacedNeuron& placed = placed_[j];
      LineNodes::LogMoments logs = placed.concentration.log_moments(law_.neurons[j], order);
      if (placed.is_heavy) {
        const LineNodes::LogMoments by_nodes = placed.nodes.log_moments(order);
        logs = {std::min(logs.plus, by_nodes.plus), std::min(logs.minus, by_nodes.minus)};
      }
      tails.log_plus += logs.plus;
      tails.log_minus += logs.minus;
    }
    tails.log_plus = tails.log_plus * kSafety + 1e-9;
    tails.log_minus = tails.log_minus * kSafety + 1e-9;
    return tails;
  }

  [[nodiscard]] LineTails tails() const {
    LineTails best;
    double least = INFINITY;
    for (const double order : kOrders) {
      const LineTails tails = tails_of(order);
      const double period = wanted_period(tails);
      if (period < least) {
        least = period;
        best = tails;
      }
      // A smaller order could gain little.
      if (least < range_ + kShortEnough) break;
    }
    if (least == INFINITY) best.log_plus = best.log_minus = INFINITY;
    return best;
  }

  /// Other periods then add less than exp(-kAliasing).
  [[nodiscard]] double wanted_period(const LineTails& tails) const {
    if (!(tails.order > 0.0)) return INFINITY;
    const double normal = 0.5 * tails.order * tails.order;
    const double log_total = std::max({tails.log_plus, tails.log_minus, normal}) + std::log(4.0);
    return std::max(2.0 * range_, range_ + (log_total + kAliasing) / tails.order);
  }

  /// No less than sup |f| beyond t, by exp(-beta t^2/2) times the product of dampings at t.
  [[nodiscard]] double log_damping(double t) const {
    double sum = -0.5 * t * t * law_.bias_variance * (1.0 - 1e-9);
    double product = 1.0;
    for (const PlacedNeuron& placed : placed_) {
      product *= placed.nodes.damping(t);
      if (product > kSmallProduct) continue;
      sum += std::log(product);
      product = 1.0;
    }
    return sum + std::log(product) + 1e-9;
  }

  /// How many are needed for exp(-kTruncation); 0: too many.
  Index frequencies(double h) {
    double t = kFirstGuess * guess_;
    for (int attempt = 0; attempt < 6; ++attempt) {
      const Index count = static_cast<Index>(std::ceil(t / h));
      if (count > kMostFrequencies) return 0;
      t = h * static_cast<double>(count);
      // Terms beyond t: psi(t) / (pi t^2 beta) (Y.2).
      log_left_out_ = log_damping(t) - std::log(std::numbers::pi * t * t * law_.bias_variance);
      if (log_left_out_ <= -kTruncation + 1.0) return count;
      const double decay = std::max(1e-3, -log_left_out_);
      t *= std::clamp(std::sqrt(kTruncation / decay), 1.05, 2.0);
    }
    return 0;
  }

  /// Returns (1/pi) sum_k df(kh)/k.
  double transform(const LineFrequencies& frequencies, LineSeries& series) const {
    LineProduct product(frequencies, law_.bias_variance);
    LineFactor factor(frequencies.time.size());
    for (std::size_t j = 0; j < placed_.size(); ++j) {
      write_factor(law_.neurons[j], placed_[j], frequencies, factor);
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

  static void write_factor(const LineNeuron& neuron, const PlacedNeuron& placed,
                           const LineFrequencies& frequencies, LineFactor& factor) {
    if (placed.powers > 0) {
      LinePowers(neuron, placed.nodes, placed.powers, placed.most).evaluate(frequencies, factor);
      if (factor.largest_error(frequencies) <= kMostPowerError) return;
    }
    line_factor_by_nodes(neuron, placed.nodes, frequencies, factor);
  }

  /// The rest of the series, other periods, and the mean of Y (Y.2).
  [[nodiscard]] double other_errors(const LineSeries& series, double top) const {
    double mean = 0.0;
    for (const LineNeuron& neuron : law_.neurons) mean += std::abs(neuron.weight) * neuron.center_error;
    const LineTails& tails = series.tails;
    const double left = -tails.order * (series.period - range_);
    const double other = (std::exp(tails.log_plus + left) + std::exp(tails.log_minus + left) +
                          2.0 * std::exp(0.5 * tails.order * tails.order + left)) /
                         (1.0 - std::exp(-tails.order * series.period));
    const double normal = std::exp(-0.5 * top * top) / (std::numbers::pi * top * top);
    return std::exp(log_left_out_) + normal + other + mean / series.period;
  }

  const LineLaw& law_;
  double range_, unit_;
  double guess_ = 0.0;
  double log_left_out_ = 0.0;  ///< of the terms of higher frequency
  std::vector<PlacedNeuron> placed_;
};

}  // namespace

LineSeries line_series(const LineLaw& law, double range, double unit) {
  if (!(law.bias_variance > 0.0)) return {};
  LineSeries series = TransformBuilder(law, range, unit, false).series();
  if (series.exists && series.error < kLargeError) return series;
  LineSeries strict = TransformBuilder(law, range, unit, true).series();
  if (!strict.exists || (series.exists && series.error < strict.error)) return series;
  return strict;
}

}  // namespace mixcert
