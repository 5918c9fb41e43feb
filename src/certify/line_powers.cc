// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.15).
#include "certify/line_powers.h"

#include <algorithm>
#include <cmath>

namespace mixcert {
namespace {

// Remainders aimed at.
constexpr double kWantedRemainder = 1e-12;
constexpr int kFewestPowers = 6;
// All terms are at most this times the even ones, with room for second-order effects.
constexpr double kAllTerms = 3.0;
constexpr double kTermRounding = 2000.0 * kUnitRoundoff;

using Eight = Eigen::Array<double, 8, 1>;

/// Eight nodes from i on; beyond the end terms of weight zero.
Eight eight_nodes(const LineNodes::Column& column, Eigen::Index i) {
  if (i + 8 <= column.size()) return column.segment<8>(i);
  Eight out = Eight::Zero();
  for (Eigen::Index k = 0; i + k < column.size(); ++k) out(k) = column(i + k);
  return out;
}

}  // namespace

int line_power_count(double variance, double decay) {
  // A Gaussian's remainder is (v t^2/2)^n / n!, at the t where it counts most (n v / decay)^n e^{-n} / n!.
  static const std::array<double, kMostPowers / 2 + 1> largest = [] {
    std::array<double, kMostPowers / 2 + 1> ratios{};
    for (int n = kFewestPowers / 2; 2 * n <= kMostPowers; ++n) {
      ratios[static_cast<std::size_t>(n)] =
          std::exp(1.0 + std::log(kWantedRemainder * std::tgamma(n + 1.0)) / n) / n;
    }
    return ratios;
  }();
  for (int n = kFewestPowers / 2; 2 * n <= kMostPowers; ++n) {
    if (variance <= decay * largest[static_cast<std::size_t>(n)]) return 2 * n;
  }
  return 0;
}

LinePowers::LinePowers(const LineNeuron& neuron, const LineNodes& nodes, int count, double most)
    : count_(count), most_(most), missing_(nodes.missing_up_to(most)) {
  std::array<Eight, kMostPowers + 1> sums;
  sums.fill(Eight::Zero());
  double largest = 0.0;
  const LineNodes::Column weights = nodes.weights(), differences = nodes.differences();
  const LineNodes::Column values = nodes.values();
  for (Eigen::Index i = 0; i < weights.size(); i += 8) {
    // Moments p! g_p: one product and one sum lie between one and the next.
    const Eight line = neuron.weight * eight_nodes(differences, i);
    const Eight square = (neuron.noise * eight_nodes(values, i)).square();
    Eight before = eight_nodes(weights, i);
    Eight power = line * before;
    sums[1] += power;
    for (int p = 2; p <= count; ++p) {
      const Eight next = line * power + (static_cast<double>(p - 1) * square) * before;
      before = power;
      power = next;
      sums[static_cast<std::size_t>(p)] += power;
    }
    largest = std::max(largest, square.maxCoeff());
  }
  means_[0] = 1.0;
  double factorial = 1.0;
  for (std::size_t p = 1; p <= static_cast<std::size_t>(count); ++p) {
    factorial *= static_cast<double>(p);
    means_[p] = sums[p].sum() / factorial;
  }
  const double error = nodes.largest_error();
  rounding_ = kAllTerms * kTermRounding;
  per_time_ = kAllTerms * error * std::abs(neuron.weight);
  per_square_ = kAllTerms * error * neuron.noise * (std::sqrt(largest) + error * neuron.noise);
}

void LinePowers::evaluate(const LineFrequencies& frequencies, LineFactor& factor) const {
  const auto top = static_cast<std::size_t>(count_);
  const LineFour& first = frequencies.time.front();
  // Exponentials in t, four at a time.
  LineFour rule = (missing_.rule_rate * first).exp();
  LineFour cut = (missing_.cut_rate * first).exp();
  const double rule_step = rule(3), cut_step = cut(3);
  rule *= missing_.rule;
  cut *= missing_.cut;
  const double at_most = missing_.rule * std::exp(missing_.rule_rate * most_) +
                         missing_.cut * std::exp(missing_.cut_rate * most_);
  for (std::size_t b = 0; b < factor.real.size(); ++b) {
    const LineFour& t = frequencies.time[b];
    const LineFour square = t.square();
    LineFour even = LineFour::Constant(means_[top - 2]);
    LineFour odd = LineFour::Constant(means_[top - 1]);
    LineFour majorant = LineFour::Constant(means_[top]) * square + even;
    LineFour last = means_[top] * square;
    for (std::size_t p = top - 2; p >= 2; p -= 2) {
      even = means_[p - 2] - even * square;
      odd = means_[p - 1] - odd * square;
      majorant = means_[p - 2] + majorant * square;
      last *= square;
    }
    factor.real[b] = even;
    factor.imaginary[b] = odd * t;
    LineFour missed = rule + cut;
    if (t(3) > most_) {
      const LineFour ratio = (t * (1.0 / most_)).square();
      LineFour beyond = at_most * ratio;
      for (std::size_t p = 2; p < top; p += 2) beyond *= ratio;
      missed = (t <= most_).select(missed, beyond);
    }
    factor.error[b] = (last + missed + (rounding_ + t * (per_time_ + per_square_ * t)) * majorant) * kSafety;
    rule *= rule_step;
    cut *= cut_step;
  }
}

}  // namespace mixcert
