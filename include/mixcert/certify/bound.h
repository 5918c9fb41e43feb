// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A certified bound is its own type, never a bare double: it knows its norm, whether it
// exists, and how much of it is slack for rounding.
#pragma once

#include <limits>

#include "mixcert/core/rounding.h"

namespace mixcert {

enum class Norm { W1, W2 };

struct Bound {
  Norm norm = Norm::W2;
  /// No smaller than the true distance; NaN where no bound exists.
  double value = std::numeric_limits<double>::quiet_NaN();
  /// The formula's floating-point value, before slack for rounding was added.
  double nominal = std::numeric_limits<double>::quiet_NaN();

  static Bound none(Norm norm) { return {norm}; }
  static Bound of(Norm norm, Upper distance) { return {norm, distance.upper, distance.nominal}; }
  [[nodiscard]] bool exists() const { return value == value; }
};

}  // namespace mixcert
