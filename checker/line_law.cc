// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "line_law.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mixcert_check {
namespace {

constexpr double kOrders[] = {5.25, 3.5, 2.0, 1.4, 1.0};
constexpr double kExponent = 28.0;  // what is left out of the series counts about e^-28
constexpr long kMostFrequencies = 1500;
constexpr double kWideRange = 10.0;
constexpr double kHeavyTail = -11.0;  // logarithm of what may lie beyond the usual range
constexpr long kCells[] = {16, 32, 128};
// Of D, about: what cubics may be off by.
constexpr double kFineEnough = 1e-8;

/// h = 2 pi / P
Ball spacing(long period) { return Ball(2.0) * Ball::pi() / Ball(static_cast<double>(period)); }

}  // namespace

SumOfNeurons::SumOfNeurons(const Activation& f, std::vector<SummandSizes> neurons, Ball bias_variance,
                           double noise)
    : f_(f), sizes_(std::move(neurons)), bias_variance_(std::move(bias_variance)) {
  if (!bias_variance_.is_positive()) throw BadFile("not covered: theorem Y.1 without noise of the bias");
  find_frequencies(noise);
  compute_transform();
}

/// As many as leave out little: psi(T)/(pi T^2 beta) and e^{-T^2/2}/(pi T^2), T the highest (Y.2).
void SumOfNeurons::find_frequencies(double noise) {
  double highest = std::sqrt(2.0 * kExponent / std::fmin(1.0, noise));
  for (int attempt = 0; attempt < 12; ++attempt) {
    summands_.clear();
    for (const SummandSizes& sizes : sizes_) summands_.emplace_back(f_, sizes, highest * 1.3);
    if (attempt == 0) compute_moments();
    const double h = 2.0 * M_PI / static_cast<double>(period_);
    count_ = static_cast<long>(std::ceil(highest / h));
    if (count_ > kMostFrequencies) break;
    const Ball top = spacing(period_) * Ball(static_cast<double>(count_));
    if (upper_end(left_out(top)) <= std::exp(-kExponent + 3.0)) return;
    highest *= 1.2;
  }
  throw BadFile("not covered: theorem Y.1 with so little noise");
}

Ball SumOfNeurons::left_out(const Ball& highest) const {
  const Ball t2 = square(highest);
  Ball psi = exponential(-t2 * bias_variance_ / 2.0);
  for (const Summand& one : summands_) psi *= one.damping(highest);
  return (psi / bias_variance_ + exponential(-t2 / 2.0)) / (Ball::pi() * t2);
}

/// Of all orders that are known; the period is the shortest that makes other ones negligible.
void SumOfNeurons::compute_moments() {
  double at_range = 0.0, needed = INFINITY;
  for (const double order : kOrders) {
    Ball plus = square(Ball(order)) * bias_variance_ / 2.0, minus = plus;
    for (const Summand& one : summands_) {
      plus += logarithm(one.exponential_moment(order));
      minus += logarithm(one.exponential_moment(-order));
    }
    if (!plus.is_finite() || !minus.is_finite()) continue;
    plus_.push_back({order, plus});
    minus_.push_back({order, minus});
    const double larger = std::fmax(upper_end(plus), upper_end(minus));
    at_range = std::fmin(at_range, larger - order * range_);
    needed = std::fmin(needed, (std::fmax(larger, order * order / 2.0) + 1.4 + kExponent) / order);
  }
  if (!(needed < 300.0)) throw BadFile("not covered: theorem Y.1 with such heavy tails");
  if (at_range > kHeavyTail) range_ = kWideRange;
  period_ = static_cast<long>(std::ceil(std::fmax(2.0 * range_, range_ + needed)));
}

/// (E e^{rY} + E e^{-rY} + 2 e^{r^2/2}) e^{-r(P-L)} / (1 - e^{-rP}), by the best order.
Ball SumOfNeurons::other_periods() const {
  const Ball period = static_cast<double>(period_), beyond = period - Ball(range_);
  Ball best = INFINITY;
  for (std::size_t i = 0; i < plus_.size(); ++i) {
    const Ball& r = plus_[i].order;
    const Ball sum =
        exponential(plus_[i].log) + exponential(minus_[i].log) + Ball(2.0) * exponential(square(r) / 2.0);
    best = smaller(best, sum * exponential(-r * beyond) / (Ball(1.0) - exponential(-r * period)));
  }
  return best;
}

void SumOfNeurons::compute_transform() {
  const Ball h = spacing(period_);
  std::vector<ComplexBall> numbers;
  std::vector<Ball> normal;
  for (long k = 1; k <= count_; ++k) {
    const Ball t2 = square(h * Ball(static_cast<double>(k)));
    numbers.emplace_back(exponential(-t2 * bias_variance_ / 2.0), Ball(0.0));
    normal.push_back(exponential(-t2 / 2.0));
  }
  for (const Summand& one : summands_) one.multiply_transforms(h, numbers);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    real_.push_back(numbers[k].real() - normal[k]);
    imaginary_.push_back(numbers[k].imaginary());
    const Ball order = static_cast<double>(k + 1);
    real_by_order_.push_back(real_.back() / order);
    imaginary_by_order_.push_back(imaginary_.back() / order);
  }
}

/// D(y) = (1/pi) sum_k (u_k sin(khy) - v_k cos(khy))/k at nodes i/cells, with the angles 2 pi k i/(P cells):
/// an odd part in y and an even one.
void SumOfNeurons::fill(long cells, LineLaw& law) const {
  const long circle = period_ * cells, last = std::lround(range_ * static_cast<double>(cells));
  Balls sines(static_cast<std::size_t>(circle)), cosines = sines;
  for (long i = 0; i < circle; ++i) {
    const Ball turns = Ball(2.0 * static_cast<double>(i)) / Ball(static_cast<double>(circle));
    arb_sin_cos_pi(sines[static_cast<std::size_t>(i)].data(), cosines[static_cast<std::size_t>(i)].data(),
                   turns.data(), kBits);
  }
  const Ball cell = Ball(1.0) / Ball(static_cast<double>(cells)), h = spacing(period_);
  law.cell = 1.0 / static_cast<double>(cells);
  Balls sine(real_.size()), cosine = sine;
  Ball off;
  const auto add = [&](LineSide& side, const Ball& value, const Ball& slope) {
    side.value.push_back(value.about());
    side.slope.push_back(slope.about());
    off = larger(off, absolute(value - Ball(side.value.back())) +
                          cell / 4.0 * absolute(slope - Ball(side.slope.back())));
  };
  for (long i = 0; i <= last; ++i) {
    for (std::size_t k = 0; k < sine.size(); ++k) {
      const auto at = static_cast<std::size_t>(static_cast<long>(k + 1) * i % circle);
      sine[k] = sines[at];
      cosine[k] = cosines[at];
    }
    const Ball odd = dot(real_by_order_, sine) / Ball::pi();
    const Ball even = -dot(imaginary_by_order_, cosine) / Ball::pi();
    const Ball steep = dot(real_, cosine) * h / Ball::pi(), tilt = dot(imaginary_, sine) * h / Ball::pi();
    // On the right P(Y > y) - P(Z > y) is -D(y), on the left, of -Y, it is D(-y).
    add(law.upper, -(even + odd), steep + tilt);
    add(law.lower, even - odd, steep - tilt);
  }
  law.error += off;
}

/// The cubic is off by delta^4/384 sup |D''''|, |D''''| <= (h/pi) sum_k (kh)^3 |u_k + i v_k| (Y.6).
LineLaw SumOfNeurons::law() const {
  const Ball h = spacing(period_);
  Ball fourth, sizes, mean;
  for (long k = 1; k <= count_; ++k) {
    const auto at = static_cast<std::size_t>(k - 1);
    const Ball t = h * Ball(static_cast<double>(k));
    const Ball size = root(square(real_[at]) + square(imaginary_[at]));
    fourth += t * square(t) * size;
    sizes += size / (Ball::pi() * Ball(static_cast<double>(k)));
  }
  fourth *= h / Ball::pi();
  for (std::size_t j = 0; j < sizes_.size(); ++j) mean += absolute(sizes_[j].weight) * sizes_[j].center_error;
  LineLaw law;
  law.error = left_out(h * Ball(static_cast<double>(count_))) + other_periods() +
              mean / Ball(static_cast<double>(period_));
  const auto interpolation = [&fourth](long cells) {
    return fourth / (Ball(384.0) * square(square(Ball(static_cast<double>(cells)))));
  };
  long cells = kCells[0];
  for (const long more : kCells) {
    cells = more;
    if (upper_end(interpolation(cells)) < upper_end(law.error + kFineEnough * sizes)) break;
  }
  law.error += interpolation(cells);
  fill(cells, law);
  law.upper.moments = plus_;
  law.lower.moments = minus_;
  return law;
}

}  // namespace mixcert_check
