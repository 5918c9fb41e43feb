// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "summand.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mixcert_check {
namespace {

constexpr double kLastNode = 17.0;      // nodes reach so far: P(Z > 16) < 1e-56
constexpr double kRuleExponent = 55.0;  // of the exponent: e^-55 = 1e-24
constexpr double kMostRuleNodes = 4000.0;

/// E[exp(p a + q a^2); z > 0] of a = slope z, z ~ N(m, s^2):
///     d^{-1/2} exp((p slope m + q slope^2 m^2 + p^2 slope^2 s^2/2)/d) Phi((m + p slope s^2)/(s d^{1/2})),
/// d = 1 - 2 q slope^2 s^2 (complete the square).
ComplexBall half_line(const Ball& slope, const Ball& m, const Ball& s, const ComplexBall& p, const Ball& q) {
  const Ball s2 = square(s), c2 = square(slope), d = Ball(1.0) - Ball(2.0) * q * c2 * s2;
  const ComplexBall pc = p * slope;
  const ComplexBall exponent =
      (pc * m + ComplexBall(q * c2 * square(m), 0.0) + pc * pc * (s2 / 2.0)) * (Ball(1.0) / d);
  const ComplexBall place = (ComplexBall(m, 0.0) + pc * s2) * (Ball(-1.0) / (s * root(Ball(2.0) * d)));
  return exponential(exponent) * complementary_error(place) * (Ball(0.5) / root(d));
}

}  // namespace

Summand::Summand(const Activation& f, SummandSizes sizes, const Ball& highest)
    : f_(f), at_(std::move(sizes)) {
  if (at_.deviation.is_zero()) {
    const Ball a = f.value(at_.mean);
    nodes_.push_back({1.0, a - at_.center, a});
    return;
  }
  if (!at_.deviation.is_positive()) throw BadFile("not covered: theorem Y.1 with a neuron that hardly moves");
  has_rule_ = !f.is_piecewise_linear();
  if (has_rule_) add_nodes(highest);
}

/// The trapezoidal rule in |Im x| <= w is off by 2.02 e^{w^2/2 - 2 pi w/d + growth} (Y.3).
void Summand::add_nodes(const Ball& highest) {
  const double w = std::min(lower_end(f_.strip().width / at_.deviation), 3.0);
  half_width_ = w;
  move_ = f_.strip().slope * at_.deviation * half_width_;
  const Ball growth = highest * absolute(at_.weight) * move_ + square(highest * move_) * at_.noise / 2.0;
  const double step = 6.28 * w / (kRuleExponent + 0.5 * w * w + upper_end(growth));
  const double count = std::ceil(kLastNode / step);
  if (!(step > 0.0 && count <= kMostRuleNodes))
    throw BadFile("not covered: theorem Y.1 with so wide a neuron");
  step_ = step;
  for (long i = -static_cast<long>(count); i <= static_cast<long>(count); ++i) {
    const Ball x = step_ * Ball(static_cast<double>(i)), a = f_.value(at_.mean + at_.deviation * x);
    const Ball weight = step_ * exponential(-square(x) / 2.0) / root(Ball(2.0) * Ball::pi());
    nodes_.push_back({weight, a - at_.center, a});
  }
}

Ball Summand::rule_error(const Ball& growth) const {
  const Ball w = half_width_, turns = Ball(2.0) * Ball::pi() * w / step_;
  // Beyond the nodes integral and sum are at most P(|Z| > 16) each.
  return Ball(2.02) * exponential(square(w) / 2.0 - turns + growth) + Ball(1e-55);
}

/// |exp(..)| <= exp(c + p|x| + q x^2) in the strip; E of that is at most 2 (1-2q)^{-1/2} e^{c +
/// p^2/(2(1-2q))}, and beyond the nodes as much times P(Z > t), t = (1-2q)^{1/2} (reach - p/(1-2q)), of sum
/// and integral. Where f is bounded p and q may be zero, and beyond the nodes, on the line itself, nothing is
/// added for the strip.
Ball Summand::moment_error(const Ball& lambda, const Ball& kappa) const {
  const Ball at_mean = f_.value(at_.mean), steep = f_.steepest_slope() * at_.deviation;
  const Ball size = absolute(lambda), far = absolute(at_mean) + move_, reach = kLastNode - 1.0;
  const Ball rule =
      Ball(2.02) * exponential(square(half_width_) / 2.0 - Ball(2.0) * Ball::pi() * half_width_ / step_);
  Ball best = INFINITY;
  const Ball p = size * steep + Ball(2.0) * kappa * far * steep,
             rest = Ball(1.0) - Ball(2.0) * kappa * square(steep);
  const Ball t = root(rest) * (reach - p / rest);
  if (rest.is_positive() && t.is_positive()) {
    const Ball c = size * (absolute(at_mean - at_.center) + move_) + kappa * square(far);
    best = Ball(2.0) / root(rest) * exponential(c + square(p) / (Ball(2.0) * rest)) *
           (rule + Ball(2.0) * exponential(-square(t) / 2.0));
  }
  if (!f_.largest_value()) return best;
  const auto largest = [&](const Ball& most) {
    return exponential(size * (most + absolute(at_.center)) + kappa * square(most));
  };
  const Ball most = *f_.largest_value();
  return smaller(
      best, rule * largest(most + move_) + Ball(4.0) * largest(most) * exponential(-square(reach) / 2.0));
}

ComplexBall Summand::by_lines(const ComplexBall& p, const Ball& q) const {
  const ComplexBall both = half_line(f_.right(), at_.mean, at_.deviation, p, q) +
                           half_line(-f_.left(), -at_.mean, at_.deviation, p, q);
  return both * exponential(p * -at_.center);
}

ComplexBall Summand::expectation(const ComplexBall& p, const Ball& q) const {
  if (nodes_.empty()) return by_lines(p, q);
  ComplexBall sum;
  for (const Node& node : nodes_) {
    const ComplexBall exponent = p * node.difference + ComplexBall(q * square(node.value), 0.0);
    sum += exponential(exponent) * node.weight;
  }
  return sum;
}

/// A node's terms w e^{ik theta - b k^2} by two products each.
void Summand::multiply_transforms(const Ball& h, std::vector<ComplexBall>& numbers) const {
  const std::size_t count = numbers.size();
  const auto times = [&h](std::size_t k) { return h * Ball(static_cast<double>(k + 1)); };
  std::vector<ComplexBall> own(count);
  for (std::size_t k = 0; nodes_.empty() && k < count; ++k) {
    const Ball t = times(k);
    own[k] = by_lines({0.0, t * at_.weight}, -square(t) * at_.noise / 2.0);
  }
  for (const Node& node : nodes_) {
    const Ball b = square(h * node.value) * at_.noise / 2.0, damping = exponential(-b),
               ratio = square(damping);
    ComplexBall term(node.weight, 0.0);
    ComplexBall step = exponential(ComplexBall(0.0, h * at_.weight * node.difference)) * damping;
    for (std::size_t k = 0; k < count; ++k) {
      term *= step;
      step *= ratio;
      own[k] += term;
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    const Ball t = times(k);
    if (has_rule_)
      own[k].add_error(rule_error(t * absolute(at_.weight) * move_ + square(t * move_) * at_.noise / 2.0));
    numbers[k] *= own[k];
  }
}

Ball Summand::damping(const Ball& t) const {
  const Ball q = -square(t) * at_.noise / 2.0;
  Ball value = expectation({}, q).real();
  if (has_rule_) value += rule_error(-q * square(move_));
  return value;
}

Ball Summand::exponential_moment(const Ball& r) const {
  const Ball lambda = r * at_.weight, kappa = square(r) * at_.noise / 2.0;
  const Ball steep = f_.steepest_slope() * at_.deviation;
  const bool exists = (Ball(1.0) - Ball(2.0) * kappa * square(steep)).is_positive();
  if (nodes_.empty() && !exists) return INFINITY;
  const Ball value = expectation({lambda, 0.0}, kappa).real();
  return has_rule_ ? value + moment_error(lambda, kappa) : value;
}

}  // namespace mixcert_check
