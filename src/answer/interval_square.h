// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The square of a number that is not negative and lies in an interval.
#pragma once

#include <algorithm>

#include "mixcert/answer/interval.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

inline Interval squared(const Interval& norm) {
  const double lower = std::max(0.0, norm.lower);
  return {norm.estimate * norm.estimate, std::max(0.0, next_down(lower * lower)),
          next_up(norm.upper * norm.upper)};
}

}  // namespace mixcert
