// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "moments.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mixcert_check {
namespace {

/// f(m), nothing random.
Moments fixed_value(const Ball& value) {
  Moments made;
  made.mean = value;
  made.second = square(value);
  return made;
}

/// (V.2), with the side of m as its case; a ball that holds zero may take either.
Moments of_lines(const Activation& f, const Ball& m, const Ball& s) {
  const bool left = m.about() <= 0.0;
  const Ball t = (left ? -m : m) / s, &b = left ? f.left() : f.right(), &o = left ? f.right() : f.left();
  const double sigma = left ? 1.0 : -1.0;
  const Ball q = Ball(0.5) * complementary_error(t / root(2.0)), p = normal_density(t), t2 = square(t);
  const Ball h1 = p - t * q;
  const Ball h2 = (Ball(1.0) + t2) * q - t * p;
  const Ball h4 = (square(t2) + Ball(6.0) * t2 + Ball(3.0)) * q - (t * t2 + Ball(5.0) * t) * p;
  const Ball k = (f.right() - f.left()) * s, d = square(o) - square(b), s2 = square(s), m2 = square(m),
             b2 = square(b);
  Moments made;
  made.mean = b * m + k * h1;
  made.linear = b * s + Ball(sigma) * k * q;
  made.quadratic = k * p / root(2.0);
  made.variance = square(made.linear) + positive_part(square(k) * (h2 - square(h1) - square(q)));
  made.second = b2 * (m2 + s2) + d * s2 * h2;
  made.square_slope = Ball(2.0) * b2 * m * s + Ball(2.0 * sigma) * d * s2 * h1;
  made.square_variance = square(b2) * (Ball(4.0) * m2 * s2 + Ball(2.0) * square(s2)) +
                         Ball(2.0) * b2 * d * (square(s2) * h4 - (m2 + s2) * s2 * h2) +
                         square(d) * square(s2) * (h4 - square(h2));
  return made;
}

// Smooth functions: G(x) = (f(m + s x) - f(m)) / s, by the trapezoidal rule (I.4).

struct Power {
  int of_g, of_x;
};
// What is summed: E G^p x^q phi.
constexpr std::array<Power, 7> kPowers{{{1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {3, 0}, {4, 0}}};
constexpr double kReach = 15.0;           // nodes reach so far: phi(15) = 5e-50
constexpr double kDiscretisation = 75.0;  // of the exponent: e^-75 = 3e-33
constexpr double kMostNodes = 2e5;

Ball whole_power(const Ball& x, int exponent) {
  Ball made = 1.0;
  for (int i = 0; i < exponent; ++i) made *= x;
  return made;
}

/// A step and what it costs: the rule's error is at most 2 N / (e^{2 pi a/d} - 1), N = e^{a^2/2} B(a
/// + 1.3161), where |G^p x^q| <= B(|x|) = slope^p |x|^{p+q} in |Im x| <= a, as |f'| <= slope between m and m
/// + s x.
struct Rule {
  double half_width;  ///< a
  double step;        ///< d
};

Rule rule_for(const Activation& f, const Ball& s) {
  Rule rule{};
  rule.half_width = std::min(lower_end(f.strip().width / s), 6.0);
  rule.step = 6.28 * rule.half_width / (kDiscretisation + 0.5 * rule.half_width * rule.half_width);
  return rule;
}

/// Both sides beyond the last node n d = reach: x^4 phi(x) falls there, at the rate x - 4/x or faster, so
/// that the sum is below the integral, slope^p reach^k phi(reach) / (reach - 4 / reach), k <= 4.
Ball error_of(const Rule& rule, const Activation& f, const Power& power, const Ball& reach) {
  const Ball a = rule.half_width, size = whole_power(f.strip().slope, power.of_g);
  const int degree = power.of_g + power.of_x;
  const Ball strip = exponential(square(a) / 2.0) * size * whole_power(a + Ball(1.3161), degree);
  const Ball grid =
      Ball(2.0) * strip / (exponential(Ball(2.0) * Ball::pi() * a / Ball(rule.step)) - Ball(1.0));
  const Ball beyond = size * whole_power(reach, degree) * normal_density(reach) / (reach - Ball(4.0) / reach);
  return grid + Ball(2.0) * beyond;
}

std::array<Ball, 7> sums_of(const Activation& f, const Ball& m, const Ball& s, const Ball& at_mean) {
  const Rule rule = rule_for(f, s);
  const double count = std::ceil(kReach / rule.step);
  std::array<Ball, 7> sums;
  if (!(rule.step > 0.0 && count <= kMostNodes))
    throw BadFile("not covered: a deviation too large for an activation");
  const long nodes = static_cast<long>(count);
  for (long i = -nodes; i <= nodes; ++i) {
    const Ball x = Ball(rule.step) * Ball(static_cast<double>(i));
    const Ball g = (f.value(m + s * x) - at_mean) / s, weight = normal_density(x) * Ball(rule.step);
    std::array<Ball, 5> powers{weight};
    for (std::size_t p = 1; p < 5; ++p) powers[p] = powers[p - 1] * g;
    for (std::size_t j = 0; j < 7; ++j) {
      const int of_x = kPowers[j].of_x;
      const Ball& part = powers[static_cast<std::size_t>(kPowers[j].of_g)];
      sums[j] += of_x == 0 ? part : of_x == 1 ? part * x : part * square(x);
    }
  }
  const Ball reach = Ball(rule.step) * Ball(static_cast<double>(nodes));
  for (std::size_t j = 0; j < 7; ++j) {
    const Ball error = error_of(rule, f, kPowers[j], reach);
    arb_add_error(sums[j].data(), error.data());
  }
  return sums;
}

/// With A = f(m): a = A + s G, a^2 - A^2 = s G (2A + s G).
Moments of_smooth(const Activation& f, const Ball& m, const Ball& s) {
  const Ball a = f.value(m);
  const auto [g, gx, gxx, g2, g2x, g3, g4] = sums_of(f, m, s, a);
  const Ball s2 = square(s), twice = Ball(2.0) * a;
  Moments made;
  made.mean = a + s * g;
  made.linear = s * gx;
  made.quadratic = s * (gxx - g) / root(2.0);
  made.variance = s2 * positive_part(g2 - square(g));
  const Ball rise = twice * s * g + s2 * g2;  // E a^2 - A^2
  made.second = square(a) + rise;
  made.square_slope = twice * s * gx + s2 * g2x;
  made.square_variance =
      square(twice) * s2 * g2 + Ball(2.0) * twice * s2 * s * g3 + square(s2) * g4 - square(rise);
  return made;
}

}  // namespace

namespace {

/// The ball [-radius, radius].
Ball within(const Ball& radius) {
  Ball made;
  arb_add_error(made.data(), radius.data());
  return made;
}

/// A deviation that cannot be told from zero: |a - f(m)| <= d |x|, d = the steepest slope times s. E|x|^3 <
/// 1.6, E x^4 = 3.
Moments of_little(const Activation& f, const Ball& m, const Ball& s) {
  const Ball d = f.steepest_slope() * absolute(s), d2 = square(d), a = f.value(m);
  const Ball square_moves = Ball(2.0) * absolute(a) * d;
  Moments made;
  made.mean = a + within(d);
  made.linear = within(d);
  made.quadratic = within(d);
  made.variance = positive_part(within(d2));
  made.second = square(a) + within(square_moves + d2);
  made.square_slope = within(square_moves + Ball(1.6) * d2);
  made.square_variance = positive_part(within(square(square_moves + root(3.0) * d2)));
  return made;
}

}  // namespace

Moments moments_of(const Activation& f, const Ball& m, const Ball& s) {
  if (s.is_zero()) return fixed_value(f.value(m));
  if (!s.is_positive()) return of_little(f, m, s);
  return f.is_piecewise_linear() ? of_lines(f, m, s) : of_smooth(f, m, s);
}

}  // namespace mixcert_check
