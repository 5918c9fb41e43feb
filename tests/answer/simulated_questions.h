// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Questions about networks of every kind of layer, answered from few draws and again from many.
#pragma once

#include <cstdint>

#include "mixcert/core/types.h"

namespace mixcert::testing {

struct QuestionCount {
  int asked = 0;
  int missed = 0;  ///< whose range does not hold what the many draws say, four standard errors of it apart
};

/// `repeats` networks of each kind, seven questions each, from `draws` and from `reference` draws.
QuestionCount ask_every_kind(std::uint64_t repeats, double failure, Index draws, Index reference);

}  // namespace mixcert::testing
