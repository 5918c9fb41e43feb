// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Dropout: activations are multiplied by independent random factors of mean one. Bernoulli factors are 0 with
// probability `rate` and 1 / (1 - rate) otherwise; Gaussian factors are N(1, rate / (1 - rate)). Factors are
// independent over neurons, over inputs (also of a joint law) and of everything else.
#pragma once

#include "mixcert/core/rounding.h"

namespace mixcert {

class Mask {
 public:
  enum class Kind { None, Bernoulli, Gaussian };

  /// No mask: all factors are one.
  Mask() = default;
  /// Throws InvalidArgument unless 0 <= rate < 1; a rate of zero is no mask.
  static Mask bernoulli(double rate);
  static Mask gaussian(double rate);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_none() const { return kind_ == Kind::None; }
  [[nodiscard]] double rate() const { return rate_; }
  /// Probability of not being dropped, 1 - rate.
  [[nodiscard]] double keep() const { return 1.0 - rate_; }
  /// Var m, the same formula for both kinds: rate / (1 - rate).
  [[nodiscard]] Upper variance() const;
  /// E m^4.
  [[nodiscard]] Upper fourth_moment() const;
  /// No more than sup E[m eta] over couplings with a standard normal eta (D.2).
  [[nodiscard]] double normal_coupling() const;

 private:
  Mask(Kind kind, double rate);

  Kind kind_ = Kind::None;
  double rate_ = 0.0;
};

}  // namespace mixcert
