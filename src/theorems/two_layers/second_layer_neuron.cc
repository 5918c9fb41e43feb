// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of F(m, S) = E s(m + S^{1/2} g) are expectations of s' times Hermite polynomials, so they have
// bounds that hold for all m and S: (Y.21). Numbers like 0.39895 = phi(0) are rounded up.
#include <algorithm>
#include <cmath>

#include "activation/gaussian_moments.h"
#include "activation/neuron/upper_sums.h"
#include "core/normal.h"
#include "methods/moment/moment_error.h"
#include "theorems/two_layers/second_layer.h"

namespace mixcert {
namespace {

/// The numbers were computed from an inexact `noise`, of which none has a power above 4.
constexpr double kInexactNoise = 1.0 + 1e-6;
/// What inexact means and noise change an expectation of a function of range one by.
constexpr double kInexactMean = 4.0 * kSpreadAccuracy;

/// Deviations of its mean from zero from which on a neuron's far side is looked at; nearer it gains nothing.
constexpr double kFarEnough = 1.5;
/// Of a bound in use, what another one has to be below to be worth its time.
constexpr double kWorthwhile = 0.9;

/// Rests of different neurons add up, what is around the mean does not: how much more they count when one of
/// two valid pairs is chosen.
constexpr double kRestWeight = 8.0;

double fourth_root(double x) { return std::sqrt(std::sqrt(x)); }

class NeuronBounds {
 public:
  NeuronBounds(const Activation& f, const NeuronSpread& spread)
      : f_(f),
        x_(spread),
        t_(f),
        sigma_(std::sqrt(spread.noise)),
        signal_root_(std::sqrt(spread.signal)),
        full_(std::sqrt(spread.noise + spread.signal)),
        delta_(std::sqrt(spread.delta2)),
        delta_l4_(fourth_root(spread.delta4)),
        u_(std::sqrt(spread.u2)),
        floor_(1.0 + std::sqrt(positive_part(spread.least * (1.0 - 1e-6)) / spread.noise)),
        center_(gaussian_moments(f, spread.mean, sigma_)),
        full_cells_(f, spread.mean, full_) {
    const double jump = t_.jump();
    second_ = std::min(0.39895 * jump / sigma_, t_.curvature);
    third_ = t_.piecewise_linear ? 0.24198 * jump / x_.noise
                                 : std::min(0.48395 * jump / x_.noise, 0.79789 * t_.curvature / sigma_);
  }

  [[nodiscard]] NeuronCarry carry(const FarSide& far_side) const {
    NeuronCarry best;
    const double signal_rest = choose_slope(best.slope);
    best.rest = (signal_rest + noise_rest(best.noise_slope)) * kInexactNoise;
    const double noise = noise_part();
    best.own = both_parts(best.slope, noise) * kInexactNoise;
    best.whole = both_parts(0.0, noise) * kInexactNoise;
    if (t_.piecewise_linear && far_side) compare_with_sides(far_side, best);
    return best;
  }

 private:
  static double square_of(double x) { return x * x; }

  /// No less than E (s(z) - s(z') - slope delta)^2, from what the noise adds (Y.23): the product of both
  /// parts has a conditional mean of its own bound, or at most that of their norms.
  [[nodiscard]] double both_parts(double slope, double noise) const {
    const double signal = signal_part(slope);
    double least = INFINITY, most = -INFINITY;
    for (const double a : {t_.low, t_.high}) {
      for (const double b : {t_.low - slope, t_.high - slope}) {
        least = std::min(least, a * b);
        most = larger_or_nan(most, a * b);
      }
    }
    const double product = 0.39895 * (most - least) * sigma_ * delta_ * std::sqrt(root_square());
    return signal + noise + 2.0 * std::min(product, std::sqrt(signal * noise));
  }

  /// (Y.26) where a neuron is on one side of zero nearly always.
  void compare_with_sides(const FarSide& far_side, NeuronCarry& best) const {
    const double size = std::abs(x_.mean);
    if (!(size > kFarEnough * full_)) return;
    // Below the best rate of a normal variable: what is not normal has heavier tails.
    const double normal_rate = (size + std::sqrt(size * size + 8.0 * full_ * full_)) / (2.0 * full_ * full_);
    const double rate = 0.75 * normal_rate;
    // A guess says whether the bound is worth its time: what it is where z is normal.
    const double guess = square_of(0.73576 / rate) * std::exp(rate * (0.5 * rate * full_ * full_ - size));
    const NeuronCarry hoped = with_far_side(guess);
    if (weight(hoped) > kWorthwhile * weight(best) && hoped.whole > kWorthwhile * best.whole) return;
    double square = far_side(rate);
    if (!(square < 2.0 * guess)) square = std::min(square, far_side(0.5 * normal_rate));
    const NeuronCarry other = with_far_side(square);
    const double whole = std::min(best.whole, other.whole);
    if (weight(other) < weight(best)) best = other;
    best.whole = whole;
  }

  /// What decides between two valid choices.
  static double weight(const NeuronCarry& carry) { return kRestWeight * square_of(carry.rest) + carry.own; }

  /// (Y.26): the slope on the mean's side of zero, and nothing else but the far side; `square` is E p^2.
  [[nodiscard]] NeuronCarry with_far_side(double square) const {
    const double slope = f_.derivative(x_.mean < 0.0 ? -1.0 : 1.0);
    // The integral of (y - t)^2 phi over y > t is at most min(1/2, 2 phi(t)/t^3), t >= 0.
    const double t = positive_part(std::abs(x_.mean) / full_ - 4.0 * kSpreadAccuracy) * (1.0 - 1e-6);
    const double surrogate = std::min(0.5, 2.0 * normal_density(t) / (t * t * t));
    const double far = enlarged(t_.jump() * std::sqrt(square + full_ * full_ * surrogate * kInexactNoise));
    const double root = std::sqrt(x_.noise * root_square() * kInexactNoise);
    NeuronCarry made;
    made.slope = slope;
    made.rest = far;
    made.own = enlarged(square_of(std::abs(slope) * root + far));
    made.whole = enlarged(square_of(std::abs(slope) * std::sqrt(x_.delta2 + root * root) + far));
    return made;
  }

  /// (Y.22) at the best of three slopes, which is returned too. The middle of all slopes is no further than
  /// half their range from any of them.
  double choose_slope(double& slope) const {
    double best = average_rest(slope);
    double center_slope = 0.0;
    const double by_center = center_rest(center_slope);
    if (by_center < best) {
      best = by_center;
      slope = center_slope;
    }
    const double middle = 0.5 * (t_.low + t_.high);
    const double by_middle = t_.reach(middle) * delta_;
    if (by_middle < best) {
      best = by_middle;
      slope = middle;
    }
    return best;
  }

  [[nodiscard]] double clamped(double slope) const { return std::clamp(slope, t_.low, t_.high); }

  /// alpha = E s'(z'): F_m(m') - alpha in L4, by the contraction of conditional expectations.
  double average_rest(double& slope) const {
    const Enclosed moment = gaussian_moments(f_, x_.mean, full_).slope;
    slope = clamped(moment.value / full_);
    const double error = moment.error / full_ + kInexactMean * t_.jump();
    const double share = x_.signal / (x_.signal + x_.noise);
    const double steep = second_ * signal_root_;
    const double variance = std::min(
        share * (full_cells_.about(slope).mean + kInexactMean * square_of(t_.reach(slope))), steep * steep);
    const double fourth = variance * std::min(variance + 4.0 * steep * steep, square_of(t_.jump()));
    double best = (fourth_root(fourth) + error) * delta_l4_;
    best = std::min(best, decoupled(variance, std::sqrt(fourth)) + error * delta_);
    if (t_.piecewise_linear) {
      const DistancePowers exact = smoothed_slope_powers(f_, x_.mean, signal_root_, sigma_, slope);
      const double inexact = kInexactMean * t_.jump();
      best = std::min({best, (fourth_root(exact.fourth) + inexact) * delta_l4_,
                       decoupled(exact.second, exact.spread) + inexact * delta_});
    }
    return capped(best, slope);
  }

  /// |U delta|, U a function of h: (Y.29).
  [[nodiscard]] double decoupled(double second, double spread) const {
    return enlarged(std::sqrt(second * x_.delta2 + spread * x_.delta_sd));
  }

  /// alpha = F_m(E m'): Taylor's formula there.
  double center_rest(double& slope) const {
    slope = clamped(center_.slope.value / sigma_);
    const double error = center_.slope.error / sigma_ + kInexactMean * t_.jump();
    const double bend =
        1.41422 * center_.curvature.magnitude() / x_.noise + kInexactMean * t_.jump() / sigma_;
    return capped(error * delta_ + bend * x_.h_delta + 0.5 * third_ * 3.2012 * x_.signal * delta_l4_, slope);
  }

  /// Adds the term of second order in delta; never more than |F_m - alpha| <= reach.
  [[nodiscard]] double capped(double first, double slope) const {
    return std::min(first + 0.5 * second_ * delta_l4_ * delta_l4_, t_.reach(slope) * delta_);
  }

  /// (Y.22), the part of S.
  double noise_rest(double& slope) const {
    const Enclosed& bend = center_.curvature;
    slope = bend.value / (1.41421356 * x_.noise);
    const double jump = t_.jump();
    const double error =
        0.70711 * bend.error / x_.noise + 1e-8 * std::abs(slope) + kInexactMean * jump / sigma_;
    const double by_jump =
        (t_.piecewise_linear ? 0.19948 : 0.3778) * jump * sigma_ * std::sqrt(root_fourth());
    const double curved = t_.piecewise_linear
                              ? by_jump
                              : std::min(by_jump, 0.24198 * t_.curvature * x_.noise * std::sqrt(x_.u4));
    const double taylor = x_.noise * (error * u_ + 0.5 * third_ * (x_.h_u + x_.delta_u)) + curved;
    const double crude = (0.39895 * jump * sigma_ / floor_ + std::abs(slope) * x_.noise) * u_;
    const double best = std::min(taylor, crude);
    if (!t_.piecewise_linear) return best;
    // gamma at the mean of F_S(m'), whose distance from it is a function of the normal h alone.
    const double mean_density = sigma_ / full_ * normal_density(x_.mean / full_);
    const double varying =
        fourth_root(smoothed_density_fourth(x_.mean, signal_root_, sigma_, mean_density)) + kInexactMean;
    const double by_mean =
        0.5 * sigma_ * jump * varying * fourth_root(x_.u4) + 0.5 * x_.noise * third_ * x_.delta_u + curved;
    if (by_mean < best) slope = 0.5 * (f_.derivative(1.0) - f_.derivative(-1.0)) * mean_density / sigma_;
    return std::min(best, enlarged(by_mean));
  }

  /// No less than E (s(m + noise^{1/2} g) - s(z') - slope delta)^2.
  [[nodiscard]] double signal_part(double slope) const {
    const double reach = t_.reach(slope), reach2 = reach * reach;
    const double range =
        t_.piecewise_linear ? std::abs(square_of(t_.high - slope) - square_of(t_.low - slope)) : reach2;
    const double jumps = 0.39895 * range / sigma_;
    const double steep = t_.piecewise_linear ? jumps : std::min(jumps, 2.0 * reach * t_.curvature);
    const SlopeCells::Squares squares = full_cells_.about(slope);
    const double spread =
        std::min(signal_root_ / full_ * (squares.spread + kInexactMean * reach2), steep * signal_root_);
    const double bound = (squares.mean + kInexactMean * reach2) * x_.delta2 + spread * x_.delta_sd +
                         0.5 * steep * delta_ * std::sqrt(x_.delta4);
    return std::min(bound, reach2 * x_.delta2);
  }

  /// No less than E (r - 1)^2.
  [[nodiscard]] double root_square() const {
    const double any = std::min(x_.u2 / 4.0 + x_.u3 / 8.0 + 0.625 * x_.u4, x_.u2 / (floor_ * floor_));
    return x_.convex ? std::min(any, convex_root_deviation(x_.u2 * kInexactNoise)) : any;
  }

  /// No less than E (r - 1)^4.
  [[nodiscard]] double root_fourth() const {
    const double any = x_.u4 / square_of(floor_ * floor_);
    if (!x_.convex) return any;
    const double square = root_square();
    return std::min(any, x_.u4 / 16.0 + std::min(6.0 * square, 1.0) * square);
  }

  /// No less than E (s(z) - s(m + noise^{1/2} g))^2, (Y.23).
  [[nodiscard]] double noise_part() const {
    const double largest = square_of(t_.reach(0.0));
    const double lipschitz = t_.reach(0.0);
    const double range = t_.piecewise_linear ? std::abs(t_.high * t_.high - t_.low * t_.low) : largest;
    const double by_mean = t_.piecewise_linear
                               ? 0.29354 * range / sigma_
                               : std::min(0.58706 * range / sigma_, 2.0 * lipschitz * t_.curvature);
    const double by_noise = t_.piecewise_linear
                                ? 0.4632 * range
                                : std::min(0.9264 * range, 1.5958 * lipschitz * t_.curvature * sigma_);
    const double root2 = root_square(), root4 = std::sqrt(root_fourth());
    const double cube = u_ * std::sqrt(x_.u4);
    const double root3 =
        std::min({cube / 8.0 + 0.875 * x_.u4, cube / (floor_ * floor_ * floor_), std::sqrt(root2) * root4});
    const double moved = by_mean * u_ * (x_.h_u + x_.delta_u);
    const double moving = std::min({moved / (floor_ * floor_), 0.265625 * moved + 0.875 * largest * x_.u4,
                                    by_mean * root4 * (signal_root_ + delta_)});
    const double still = SlopeCells(f_, x_.mean, sigma_).weighted() + kInexactMean * largest;
    return x_.noise * std::min(still * root2 + moving + by_noise * root3, largest * root2);
  }

  const Activation& f_;
  const NeuronSpread& x_;
  SlopeTraits t_;
  double sigma_, signal_root_, full_;
  double delta_, delta_l4_, u_;
  double floor_;                     ///< 1 + (least/noise)^{1/2}, no more than 1 + (S/noise)^{1/2}
  GaussianMoments center_;           ///< of s(N(mean, noise))
  SlopeCells full_cells_;            ///< of s'(z')
  double second_ = 0.0, third_ = 0;  ///< bounds of |F_mm| and |F_mmm| at S = noise
};

}  // namespace

NeuronCarry carry_neuron(const Activation& f, const NeuronSpread& spread, const FarSide& far_side) {
  return NeuronBounds(f, spread).carry(far_side);
}

}  // namespace mixcert
