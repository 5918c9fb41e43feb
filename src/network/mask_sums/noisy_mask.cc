// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Quadratures of (D.15). With D = A + 1/A = (p kappa)^{-1/2}, beta = D/s, l = log(kappa/p) and the logistic
// function sigma, P(Y = 1/A | T) at T = Y + s z is sigma(l +- beta^2/2 + beta z). All integrands are bounded
// by constants in the strip |Im z| <= pi/(2 beta), so that the trapezoidal rule (V.4) has a proven error.
#include "network/mask_sums/noisy_mask.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/elementary.h"
#include "core/normal.h"
#include "mixcert/core/parallel.h"
#include "mixcert/core/rounding.h"
#include "mixcert/network/network.h"

namespace mixcert {
namespace {

constexpr double kLargestSlope = 200.0;  ///< of beta: 20,000 nodes
constexpr double kLastNode = 12.0;
constexpr double kWidestStrip = 2.0;
constexpr int kLevelsPerOctave = 128;
constexpr int kLowestOctave = -7;
constexpr int kHighestLevel = 17 * kLevelsPerOctave;

/// E sigma(u_-), E g H_2, E g H_3 and Var g, g(z) = p sigma(u_-) + kappa sigma(u_+), all with this error.
struct MaskIntegrals {
  double lower = 0.0, second = 0.0, third = 0.0, variance = 0.0, error = 0.0;
};

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// (D.15): the rule, what lies beyond the last node, and rounding.
double integral_error(double beta, double log_odds, double strip, double step) {
  const double rule = 8.0 * std::exp(0.5 * strip * strip) * std::pow(1.0 + strip * strip, 1.5) /
                      std::expm1(2.0 * std::numbers::pi * strip / step * (1.0 - 1e-9));
  const double argument = 4.0 + std::abs(log_odds) + std::min(0.5 * beta * beta + kLastNode * beta, 1728.0);
  const double nodes = 2.0 * kLastNode / step + 1.0;
  return enlarged(rule + 1e-20 + (3.0 * 6.0 * argument + 2.0 * nodes + 1024.0) * kUnitRoundoff);
}

MaskIntegrals integrals(double rate, double beta) {
  const double keep = 1.0 - rate, log_odds = std::log(keep / rate), half = 0.5 * beta * beta;
  const double strip = std::min(kWidestStrip, std::numbers::pi / (2.0 * beta)) * (1.0 - 1e-9);
  // A multiple of 2^-20, so that nodes are exact.
  const double step = std::ldexp(std::floor(std::ldexp(2.0 * std::numbers::pi * strip / 42.0, 20)), -20);
  const auto last = static_cast<Index>(kLastNode / step);
  MaskIntegrals sum;
  for (Index k = -last; k <= last; ++k) {
    const double z = static_cast<double>(k) * step;
    const double weight = step * normal_density(z);
    const double lower = logistic(log_odds - half + beta * z);
    const double upper = logistic(log_odds + half + beta * z);
    const double centred = rate * lower + keep * upper - keep;
    sum.lower += weight * lower;
    sum.second += weight * centred * (z * z - 1.0) * std::numbers::sqrt2 * 0.5;
    sum.third += weight * centred * z * (z * z - 3.0) / std::sqrt(6.0);
    sum.variance += weight * centred * centred;
  }
  sum.error = integral_error(beta, log_odds, strip, step);
  return sum;
}

}  // namespace

std::optional<NoisyMask> noisy_mask(double rate, double deviation) {
  const double keep = 1.0 - rate, distance = 1.0 / std::sqrt(rate * keep), beta = distance / deviation;
  if (!(beta <= kLargestSlope)) return std::nullopt;
  const MaskIntegrals of = integrals(rate, beta);
  const double inverse = 1.0 / deviation, stretch = 1.0 + square(inverse);
  constexpr double kRounding = 32 * kUnitRoundoff;
  NoisyMask mask;
  // E rho^2 = stretch (1 - stretch E sigma(u_-)/kappa), h_1 = -E rho^2 s/(1 + s^2).
  const double score = stretch * (1.0 - stretch * of.lower / keep);
  const double score_error =
      enlarged(square(stretch) / keep * of.error + kRounding * stretch * (1.0 + stretch / keep * of.lower));
  mask.square = enlarged(positive_part(score) + score_error);
  mask.hermite = {-score * inverse / stretch, stretch * distance * of.second, stretch * distance * of.third};
  const double sizes = std::abs(mask.hermite[0]) + std::abs(mask.hermite[1]) + std::abs(mask.hermite[2]);
  mask.error = enlarged(score_error * inverse / stretch + stretch * distance * of.error + kRounding * sizes);
  // sum_q h_q^2 = stretch^2 D^2 Var g - 2 h_1/s - s^-2.
  const double whole = square(stretch * distance) * of.variance;
  const double all = whole - 2.0 * mask.hermite[0] * inverse - square(inverse);
  const double all_error = square(stretch * distance) * of.error + 2.0 * mask.error * inverse +
                           kRounding * (whole + 2.0 * std::abs(mask.hermite[0]) * inverse + square(inverse));
  double known = 0.0;
  for (const double h : mask.hermite) known += square(h);
  const double rest = all - known + enlarged(all_error + 2.0 * mask.error * sizes + kRounding * known);
  mask.rest = enlarged(std::sqrt(positive_part(rest)));
  return mask;
}

double mask_coupling_cost(double rate) {
  // kap = kap* nu^{-1/2}, kap* rounded down.
  const double coupling = Mask::bernoulli(rate).normal_coupling() * std::sqrt((1.0 - rate) / rate);
  return 2.0 - 2.0 * reduced(coupling);
}

int NoisyMaskTable::level(double s) {
  if (!(s > 0.0)) return -1;
  const double place = (std::log2(s) - kLowestOctave) * kLevelsPerOctave;
  if (!(place >= 0.0)) return -1;
  int found = place >= kHighestLevel ? kHighestLevel : static_cast<int>(place);
  while (found >= 0 && deviation(found) > s) --found;
  return found;
}

double NoisyMaskTable::deviation(int level) {
  return std::exp2(kLowestOctave + static_cast<double>(level) / kLevelsPerOctave);
}

void NoisyMaskTable::prepare(const std::vector<int>& levels, int threads) {
  std::vector<int> missing;
  for (const int level : levels) {
    if (level >= 0 && values_.try_emplace(level).second) missing.push_back(level);
  }
  parallel_for(static_cast<Index>(missing.size()), threads, [&](Index i) {
    const int level = missing[static_cast<std::size_t>(i)];
    values_.find(level)->second = noisy_mask(rate_, deviation(level));
  });
}

const NoisyMask* NoisyMaskTable::find(int level) const {
  const auto found = values_.find(level);
  return found == values_.end() || !found->second ? nullptr : &*found->second;
}

}  // namespace mixcert
