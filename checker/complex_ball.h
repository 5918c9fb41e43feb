// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Complex numbers as pairs of balls, by Arb.
#pragma once

#include <acb.h>
#include <acb_hypgeom.h>

#include "ball.h"

namespace mixcert_check {

class ComplexBall {
 public:
  ComplexBall() { acb_init(z_); }
  ComplexBall(const Ball& real, const Ball& imaginary) : ComplexBall() {
    acb_set_arb_arb(z_, real.data(), imaginary.data());
  }
  ComplexBall(const ComplexBall& other) : ComplexBall() { acb_set(z_, other.z_); }
  ComplexBall& operator=(const ComplexBall& other) {
    acb_set(z_, other.z_);
    return *this;
  }
  ~ComplexBall() { acb_clear(z_); }

  [[nodiscard]] acb_srcptr data() const { return z_; }
  [[nodiscard]] acb_ptr data() { return z_; }
  [[nodiscard]] Ball real() const { return part(acb_realref(z_)); }
  [[nodiscard]] Ball imaginary() const { return part(acb_imagref(z_)); }

  ComplexBall& operator+=(const ComplexBall& b) {
    acb_add(z_, z_, b.z_, kBits);
    return *this;
  }
  ComplexBall& operator*=(const ComplexBall& b) {
    acb_mul(z_, z_, b.z_, kBits);
    return *this;
  }
  ComplexBall& operator*=(const Ball& b) {
    acb_mul_arb(z_, z_, b.data(), kBits);
    return *this;
  }
  friend ComplexBall operator+(ComplexBall a, const ComplexBall& b) { return a += b; }
  friend ComplexBall operator*(ComplexBall a, const ComplexBall& b) { return a *= b; }
  friend ComplexBall operator*(ComplexBall a, const Ball& b) { return a *= b; }

  /// Any number that is off by at most `error`.
  void add_error(const Ball& error) {
    arb_add_error(acb_realref(z_), error.data());
    arb_add_error(acb_imagref(z_), error.data());
  }

 private:
  static Ball part(arb_srcptr from) {
    Ball made;
    arb_set(made.data(), from);
    return made;
  }
  acb_t z_;
};

inline ComplexBall exponential(const ComplexBall& z) {
  ComplexBall made;
  acb_exp(made.data(), z.data(), kBits);
  return made;
}

/// 1 - erf(z)
inline ComplexBall complementary_error(const ComplexBall& z) {
  ComplexBall made;
  acb_hypgeom_erfc(made.data(), z.data(), kBits);
  return made;
}

}  // namespace mixcert_check
