// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.15).
#include "theorems/output_law/moment_transform.h"

#include <algorithm>
#include <cmath>

#include "theorems/output_law/transform_product.h"

namespace mixcert {
namespace {

constexpr int kFewestPowers = 6;
// All terms are at most this times the even ones, with room for second-order effects.
constexpr double kAllTerms = 3.0;
constexpr double kTermRounding = 2000.0 * kUnitRoundoff;

/// Moments p! g_p of two nodes times their weights: one product and one sum lie between one and the next.
struct TwoNodes {
  TwoLanes line, square, before, power;

  TwoNodes(const SummandNeuron& neuron, const double* weights, const double* differences,
           const double* values)
      : line(neuron.weight * load_two(differences)), before(load_two(weights)), power(line * before) {
    const TwoLanes noise = neuron.noise * load_two(values);
    square = noise * noise;
  }
  void step(const TwoLanes& order) {
    const TwoLanes next = line * power + (order * square) * before;
    before = power;
    power = next;
  }
};

/// Six nodes at a time, as many as fit into 16 registers.
constexpr Eigen::Index kTogether = 6;
using PowerSums = std::array<TwoLanes, kMostPowers + 1>;

void add_nodes(const SummandNeuron& neuron, const double* weights, const double* differences,
               const double* values, int count, PowerSums& sums) {
  TwoNodes a(neuron, weights, differences, values);
  TwoNodes b(neuron, weights + 2, differences + 2, values + 2);
  TwoNodes c(neuron, weights + 4, differences + 4, values + 4);
  sums[1] += (a.power + b.power) + c.power;
  for (int p = 2; p <= count; ++p) {
    const TwoLanes order = both(static_cast<double>(p - 1));
    a.step(order);
    b.step(order);
    c.step(order);
    sums[static_cast<std::size_t>(p)] += (a.power + b.power) + c.power;
  }
}

/// E p! g_p, p = 1 .. count, by all nodes.
PowerSums power_sums(const SummandNeuron& neuron, const NeuronNodes& nodes, int count) {
  PowerSums sums{};
  const double *weights = nodes.weights().data(), *differences = nodes.differences().data();
  const double* values = nodes.values().data();
  const Eigen::Index size = nodes.weights().size();
  Eigen::Index i = 0;
  for (; i + kTogether <= size; i += kTogether) {
    add_nodes(neuron, weights + i, differences + i, values + i, count, sums);
  }
  if (i == size) return sums;
  // The rest with nodes of weight zero.
  std::array<double, kTogether> w{}, d{}, v{};
  std::copy(weights + i, weights + size, w.begin());
  std::copy(differences + i, differences + size, d.begin());
  std::copy(values + i, values + size, v.begin());
  add_nodes(neuron, w.data(), d.data(), v.data(), count, sums);
  return sums;
}

}  // namespace

MomentCounts::MomentCounts(double remainder) {
  // A Gaussian's remainder is (v t^2/2)^n / n!, at the t where it counts most (n v / decay)^n e^{-n} / n!.
  double log_factorial = 0.0;
  for (int n = 1; 2 * n <= kMostPowers; ++n) {
    log_factorial += std::log(n);
    if (2 * n < kFewestPowers) continue;
    largest_[static_cast<std::size_t>(n)] = std::exp(1.0 + (std::log(remainder) + log_factorial) / n) / n;
  }
}

int MomentCounts::count(double variance, double decay) const {
  for (int n = kFewestPowers / 2; 2 * n <= kMostPowers; ++n) {
    if (variance <= decay * largest_[static_cast<std::size_t>(n)]) return 2 * n;
  }
  return 0;
}

MomentTransform::MomentTransform(const SummandNeuron& neuron, const NeuronNodes& nodes, int count,
                                 double most)
    : count_(count), most_(most), missing_(nodes.missing_up_to(most)) {
  // Where exponentials grow faster than the power does, a lower frequency bounds less.
  const double rate = larger_or_nan(missing_.rule_rate, missing_.cut_rate);
  if (rate * most_ > count_) {
    most_ = larger_or_nan(1.0, count_ / rate);
    missing_ = nodes.missing_up_to(most_);
  }
  const PowerSums sums = power_sums(neuron, nodes, count);
  means_[0] = 1.0;
  double factorial = 1.0;
  for (std::size_t p = 1; p <= static_cast<std::size_t>(count); ++p) {
    factorial *= static_cast<double>(p);
    means_[p] = (sums[p][0] + sums[p][1]) / factorial;
  }
  const double error = nodes.largest_error();
  rounding_ = kAllTerms * kTermRounding;
  per_time_ = kAllTerms * error * std::abs(neuron.weight);
  const double largest = nodes.values().abs().maxCoeff<Eigen::PropagateNaN>();
  per_square_ = kAllTerms * error * neuron.noise * neuron.noise * (largest + error);
}

void MomentTransform::evaluate(const Frequencies& frequencies, TransformFactor& factor) const {
  write_missing(frequencies, factor);
  const auto top = static_cast<std::size_t>(count_);
  const double* time = frequencies.time.front().data();
  double *real = factor.real.front().data(), *imaginary = factor.imaginary.front().data();
  double* error = factor.error.front().data();
  for (std::size_t k = 0; k < 4 * factor.real.size(); k += 2) {
    const TwoLanes t = load_two(time + k);
    const TwoLanes square = t * t;
    TwoLanes even = both(means_[top - 2]), odd = both(means_[top - 1]);
    TwoLanes last = means_[top] * square;
    TwoLanes majorant = last + even;
    for (std::size_t p = top - 2; p >= 2; p -= 2) {
      even = means_[p - 2] - even * square;
      odd = means_[p - 1] - odd * square;
      majorant = means_[p - 2] + majorant * square;
      last *= square;
    }
    store_two(even, real + k);
    store_two(odd * t, imaginary + k);
    const TwoLanes rounding = rounding_ + t * (per_time_ + per_square_ * t);
    store_two((load_two(error + k) + last + rounding * majorant) * enlarged(1.0), error + k);
  }
}

void MomentTransform::write_missing(const Frequencies& frequencies, TransformFactor& factor) const {
  const FourValues& first = frequencies.time.front();
  // Exponentials in t, four at a time.
  FourValues rule = (missing_.rule_rate * first).exp();
  FourValues cut = (missing_.cut_rate * first).exp();
  const double rule_step = rule(3), cut_step = cut(3);
  rule *= missing_.rule;
  cut *= missing_.cut;
  const double at_most = missing_.rule * std::exp(missing_.rule_rate * most_) +
                         missing_.cut * std::exp(missing_.cut_rate * most_);
  for (std::size_t b = 0; b < factor.error.size(); ++b) {
    const FourValues& t = frequencies.time[b];
    factor.error[b] = rule + cut;
    rule *= rule_step;
    cut *= cut_step;
    if (!(t(3) > most_)) continue;
    // From `most` on like a power; no less than that where t is below.
    const FourValues ratio = (t * (1.0 / most_)).max(1.0).square();
    FourValues missed = FourValues::Constant(at_most);
    for (int p = 0; p < count_; p += 2) missed *= ratio;
    factor.error[b] = missed;
  }
}

}  // namespace mixcert
