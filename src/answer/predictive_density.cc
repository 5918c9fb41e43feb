// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The predictive law at a label: its density (U.15) and its CRPS (U.18).
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/normal.h"
#include "mixcert/answer/questions.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

// The density of mean + noise at a label y, noise N(0, s^2): E f(m) with f(m) = C e^-Z, Z = (m - y)^2/(2
// s^2), C = 1/(s sqrt(2 pi)). Bounds (U.15) from A = E_q e^-Z and K = E_q e^-2Z (m - y)^2, both closed forms;
// all as logarithms, because labels may be far away.

namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274;
const double kSteepestDensity = std::exp(-0.5);   // sup |f'| s/C
const double kMostConvex = 2.0 * std::exp(-1.5);  // sup f'' s^2/C; sup -f'' is C/s^2

/// Logarithms of weighted sums of positive terms, in units of s: m = y + s u. Terms are accurate to some
/// units of their exponents, and those 745 below the largest are lost.
struct KernelIntegrals {
  double log_mean;   ///< log A
  double log_slope;  ///< log of E_q e^-2Z u^2: E_q f'^2 = C^2/s^2 times it
  double square;     ///< E_q u^2
  double slack;      ///< of the logarithms
};

double log_sum(const Vector& terms) {
  const double largest = terms.maxCoeff();
  if (!std::isfinite(largest)) return largest;
  return largest + std::log((terms.array() - largest).exp().sum());
}

KernelIntegrals kernel_integrals(const LineMixture& output, double noise_std, double label) {
  Vector means(output.size());
  Vector slopes(output.size());
  double square = 0.0;
  const double log_weights = std::log(output.weights().sum());
  for (Index i = 0; i < output.size(); ++i) {
    const double log_weight = std::log(output.weights()(i)) - log_weights;
    const double shift = (output.means()(i) - label) / noise_std;
    const double spread = output.deviations()(i) / noise_std;
    const double variance = spread * spread;
    means(i) = log_weight - 0.5 * std::log1p(variance) - 0.5 * shift * shift / (1.0 + variance);
    // e^-2Z is a normal kernel of variance 1/2; given it u has mean `near` and variance `rest`.
    const double twice = 1.0 + 2.0 * variance;
    const double near = shift / twice;
    const double rest = variance / twice;
    slopes(i) = log_weight - 0.5 * std::log(twice) - shift * shift / twice + std::log(rest + near * near);
    square += output.weights()(i) * (variance + shift * shift);
  }
  const double gamma = rounding_gamma(2 * output.size() + 16);
  KernelIntegrals integrals{log_sum(means), log_sum(slopes), square / output.weights().sum() * (1.0 + gamma),
                            0.0};
  integrals.slack = 1e-11 + 1e-14 * std::abs(integrals.log_mean);
  if (std::isfinite(integrals.log_slope)) integrals.slack += 1e-14 * std::abs(integrals.log_slope);
  return integrals;
}

/// log(e^a + e^b), rounded up.
double log_add(double a, double b) {
  const double largest = std::max(a, b);
  if (!std::isfinite(largest)) return largest;
  const double sum = largest + std::log1p(std::exp(std::min(a, b) - largest));
  return sum + 1e-14 * (1.0 + std::abs(sum));
}

/// log(curvature w2^2/2 + w2 (E_q e^-2Z u^2)^(1/2)), rounded up: the change of second order.
double log_second_order(const KernelIntegrals& q, double w2, double curvature) {
  return log_add(std::log(0.5 * curvature) + 2.0 * std::log(w2), std::log(w2) + 0.5 * q.log_slope) + q.slack;
}

/// Largest proven lower bound of log E_p e^-Z; `w2` and `w1` in units of s.
double log_mean_lower(const KernelIntegrals& q, double w2, double w1) {
  if (!std::isfinite(w2)) return -kInfinity;
  // Jensen: Z has mean (sqrt(E_q u^2) + eps)^2/2 at most.
  const double reach = std::sqrt(q.square) + w2;
  const double by_jensen = -0.5 * reach * reach * (1.0 + 8.0 * kElementaryFunctionError);
  const double log_loss = log_second_order(q, w2, 1.0);
  const double by_tilt = q.log_mean - q.slack - std::exp(log_loss - q.log_mean + q.slack) * (1.0 + 1e-14);
  const double mean = std::exp(q.log_mean - q.slack);
  const double loss = std::min(w1 * kSteepestDensity, std::exp(log_loss)) * (1.0 + 1e-14);
  const double by_difference = mean > loss ? std::log((mean - loss) * (1.0 - 1e-14)) - 1e-14 : -kInfinity;
  return std::max({by_jensen, by_tilt, mean > 1e-200 ? by_difference : -kInfinity});
}

/// Least proven upper bound of log E_p e^-Z; 0 holds for every law.
double log_mean_upper(const KernelIntegrals& q, double w2, double w1) {
  if (!std::isfinite(w2)) return 0.0;
  const double log_gain =
      std::min(std::log(w1 * kSteepestDensity) + 1e-14, log_second_order(q, w2, kMostConvex));
  return std::min(0.0, log_add(q.log_mean + q.slack, log_gain));
}

}  // namespace

Interval negative_log_density(const CertifiedLine& output, double noise_std, double label) {
  require(noise_std > 0.0 && std::isfinite(noise_std),
          "negative_log_density: expected noise_std > 0, got " + std::to_string(noise_std));
  require(std::isfinite(label), "negative_log_density: the label is not a finite number");
  const KernelIntegrals q = kernel_integrals(output.mixture(), noise_std, label);
  const double w2 = output.w2() / noise_std * (1.0 + rounding_gamma(2));
  const double w1 = output.w1() / noise_std * (1.0 + rounding_gamma(2));
  const double constant = kHalfLogTwoPi + std::log(noise_std);
  const double slack = 4.0 * kElementaryFunctionError * (1.0 + std::abs(constant));
  return {constant - q.log_mean, next_down(constant - log_mean_upper(q, w2, w1) - slack),
          next_up(constant - log_mean_lower(q, w2, w1) + slack)};
}

// CRPS(F, y) = integral of (F - 1{x >= y})^2 = E|Y - y| - E|Y - Y'|/2, closed for Gaussian mixtures, since
// E|N(m, s^2)| = 2 s phi(m/s) + m (2 Phi(m/s) - 1). Under the true law (U.18) it moves by at most 2 W1, and
// its root, a norm in L2, by at most |F_p - F_q| <= min(W1^(1/2), W1 (2 s sqrt pi)^(-1/2)), s the noise.

namespace {

constexpr Index kMostComponents = 4096;
constexpr double kTwoRootPi = 3.5449077018110318;

/// E|N(mean, deviation^2)|; error below 64 u (|mean| + deviation).
double absolute_mean(double mean, double deviation) {
  if (deviation == 0.0) return std::abs(mean);
  const double z = std::abs(mean) / deviation;
  return 2.0 * deviation * normal_density(z) + std::abs(mean) * (1.0 - 2.0 * normal_tail(z));
}

struct Crps {
  double value = 0.0;
  double error = 0.0;
};

Crps crps(const LineMixture& line, double label) {
  double distance = 0.0;
  double spread = 0.0;
  for (Index i = 0; i < line.size(); ++i) {
    const double weight = line.weights()(i);
    if (weight == 0.0) continue;
    const double deviation = line.deviations()(i);
    distance += weight * absolute_mean(line.means()(i) - label, deviation);
    spread += weight * weight * absolute_mean(0.0, std::sqrt(2.0) * deviation);
    for (Index j = 0; j < i; ++j) {
      const double both = std::hypot(deviation, line.deviations()(j));
      spread += 2.0 * weight * line.weights()(j) * absolute_mean(line.means()(i) - line.means()(j), both);
    }
  }
  const double weights = line.weights().sum();
  distance /= weights;
  spread /= weights * weights;
  // |mean| + deviation is below 3 E|N|, and differences of means are rounded once.
  const double gamma = rounding_gamma(line.size() * line.size() / 2 + 2 * line.size() + 400);
  return {distance - 0.5 * spread, gamma * (distance + spread)};
}

/// No less than the L2 distance of the distribution functions.
double cramer_distance(double w1, double noise_std) {
  const double plain = std::sqrt(w1);
  const double smooth =
      noise_std > 0.0 ? w1 / std::sqrt(kTwoRootPi * noise_std) : std::numeric_limits<double>::infinity();
  return std::min(plain, smooth) * (1.0 + rounding_gamma(8));
}

}  // namespace

Interval certified_crps(const CertifiedLine& line, double noise_std, double label) {
  require(std::isfinite(label), "certified_crps: the label is not a finite number");
  if (line.mixture().size() > kMostComponents)
    return {std::numeric_limits<double>::quiet_NaN(), 0.0, kInfinity};
  const Crps q = crps(line.mixture(), label);
  if (!std::isfinite(line.w1())) return {q.value, 0.0, kInfinity};
  const double low = positive_part(next_down(q.value - q.error));
  const double high = next_up(positive_part(q.value) + q.error);
  const double shift = cramer_distance(line.w1(), noise_std);
  const double root = positive_part(std::sqrt(low) * (1.0 - rounding_gamma(2)) - shift);
  const double above = next_up(next_up(std::sqrt(high)) + shift);
  return {
      q.value,
      positive_part(larger_or_nan(next_down(low - 2.0 * line.w1()), root * root * (1.0 - rounding_gamma(4)))),
      std::min(next_up(high + 2.0 * line.w1()), next_up(above * above))};
}

}  // namespace mixcert
