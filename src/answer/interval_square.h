// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The square of a number that is not negative and lies in an interval.
#pragma once

#include <algorithm>

#include "mixcert/answer/certified_law.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

inline Interval squared(const Interval& norm) {
  const double lower = positive_part(norm.lower);
  return {norm.estimate * norm.estimate, positive_part(next_down(lower * lower)),
          next_up(norm.upper * norm.upper)};
}

}  // namespace mixcert
