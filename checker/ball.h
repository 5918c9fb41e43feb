// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Real numbers as balls, by Arb: every operation returns a ball that holds the exact result for all numbers
// of its operands' balls. What the checker concludes from balls holds for the numbers themselves; there is no
// rounding to think of anywhere else but in rounded_product.cc.
#pragma once

#include <arb.h>
#include <arb_hypgeom.h>

#include <cmath>

namespace mixcert_check {

/// Bits of midpoints: twice those of a double, so that differences of nearly equal numbers keep digits.
inline constexpr slong kBits = 128;

class Ball {
 public:
  Ball() { arb_init(ball_); }
  /// A double is a number, not a rounded one.
  Ball(double value) : Ball() { arb_set_d(ball_, value); }  // NOLINT: numbers mix with balls in formulas
  Ball(const Ball& other) : Ball() { arb_set(ball_, other.ball_); }
  Ball(Ball&& other) noexcept : Ball() { arb_swap(ball_, other.ball_); }
  Ball& operator=(Ball other) noexcept {
    arb_swap(ball_, other.ball_);
    return *this;
  }
  ~Ball() { arb_clear(ball_); }

  static Ball pi() {
    Ball made;
    arb_const_pi(made.ball_, kBits);
    return made;
  }

  [[nodiscard]] arb_srcptr data() const { return ball_; }
  [[nodiscard]] arb_ptr data() { return ball_; }

  Ball& operator+=(const Ball& b) {
    arb_add(ball_, ball_, b.ball_, kBits);
    return *this;
  }
  Ball& operator-=(const Ball& b) {
    arb_sub(ball_, ball_, b.ball_, kBits);
    return *this;
  }
  Ball& operator*=(const Ball& b) {
    arb_mul(ball_, ball_, b.ball_, kBits);
    return *this;
  }
  Ball& operator/=(const Ball& b) {
    arb_div(ball_, ball_, b.ball_, kBits);
    return *this;
  }
  friend Ball operator+(Ball a, const Ball& b) { return a += b; }
  friend Ball operator-(Ball a, const Ball& b) { return a -= b; }
  friend Ball operator*(Ball a, const Ball& b) { return a *= b; }
  friend Ball operator/(Ball a, const Ball& b) { return a /= b; }
  Ball operator-() const {
    Ball made;
    arb_neg(made.ball_, ball_);
    return made;
  }

  [[nodiscard]] bool is_zero() const { return arb_is_zero(ball_) != 0; }
  [[nodiscard]] bool is_finite() const { return arb_is_finite(ball_) != 0; }
  /// For all numbers of the ball.
  [[nodiscard]] bool is_positive() const { return arb_is_positive(ball_) != 0; }
  [[nodiscard]] bool is_negative() const { return arb_is_negative(ball_) != 0; }
  /// About the middle; no conclusion uses it.
  [[nodiscard]] double about() const { return arf_get_d(arb_midref(ball_), ARF_RND_NEAR); }

 private:
  arb_t ball_;
};

/// For all numbers of both balls; false where the balls do not say.
inline bool at_most(const Ball& a, const Ball& b) { return arb_le(a.data(), b.data()) != 0; }

/// One of Arb's functions, rounded to kBits.
template <class Function, class... Operands>
Ball by_arb(Function function, const Operands&... operands) {
  Ball made;
  function(made.data(), operands.data()..., kBits);
  return made;
}

inline Ball square(const Ball& a) { return by_arb(arb_sqr, a); }
inline Ball larger(const Ball& a, const Ball& b) { return by_arb(arb_max, a, b); }
inline Ball smaller(const Ball& a, const Ball& b) { return by_arb(arb_min, a, b); }
/// Root of the positive part.
inline Ball root(const Ball& a) { return by_arb(arb_sqrtpos, a); }
inline Ball exponential(const Ball& a) { return by_arb(arb_exp, a); }
inline Ball hyperbolic_tangent(const Ball& a) { return by_arb(arb_tanh, a); }
inline Ball logarithm(const Ball& a) { return by_arb(arb_log, a); }
/// log(1 + a)
inline Ball log_one_plus(const Ball& a) { return by_arb(arb_log1p, a); }
inline Ball error_function(const Ball& a) { return by_arb(arb_hypgeom_erf, a); }
/// 1 - erf(a)
inline Ball complementary_error(const Ball& a) { return by_arb(arb_hypgeom_erfc, a); }

/// Of N(0,1): its density, and P(Z > a).
inline Ball normal_density(const Ball& a) {
  return exponential(-square(a) / 2.0) / root(Ball(2.0) * Ball::pi());
}
inline Ball normal_tail(const Ball& a) { return complementary_error(a / root(2.0)) / 2.0; }

// These two are exact.

inline Ball absolute(const Ball& a) {
  Ball made;
  arb_abs(made.data(), a.data());
  return made;
}

/// Of a number that is known not to be negative, though its ball may reach below zero.
inline Ball positive_part(const Ball& a) {
  Ball made;
  arb_nonnegative_part(made.data(), a.data());
  return made;
}

/// All numbers within `error` of the double; all numbers where it is none.
inline Ball around(double middle, double error) {
  const bool is_number = std::isfinite(middle);
  Ball made = is_number ? middle : 0.0;
  arb_add_error(made.data(), Ball(is_number ? error : INFINITY).data());
  return made;
}

/// A double, and no less than the distance from it of any number of the ball.
struct Rounded {
  double value, off;
};
inline Rounded rounded(const Ball& a) {
  const double value = arf_get_d(arb_midref(a.data()), ARF_RND_NEAR);
  // Arb's radii have 30 bits; the last term is for what is too small for a double, the factor for the sum.
  const double off = mag_get_d(arb_radref(a.data())) + 0x1.0p-52 * std::fabs(value) + 0x1.0p-1070;
  return {value, off * (1.0 + 0x1.0p-50)};
}

/// A double that is no less than any number of the ball, and one that is no more.
inline double upper_end(const Ball& a) {
  arf_t end;
  arf_init(end);
  arb_get_ubound_arf(end, a.data(), kBits);
  const double rounded = arf_get_d(end, ARF_RND_CEIL);
  arf_clear(end);
  return rounded;
}

inline double lower_end(const Ball& a) { return -upper_end(-a); }

}  // namespace mixcert_check
