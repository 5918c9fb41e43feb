// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Statements as text: "y3 > 0", "y3 > y5", "-1 < y0 < 1", "2*y0 - y1 <= 0.5", "class 3 beats class 5", joined
// by "and". Outputs are numbered from 0. Whether a comparison is strict makes no difference to what is
// certified.
#pragma once

#include <string_view>

#include "mixcert/answer/statement.h"

namespace mixcert {

/// What the outputs of a law are: `inputs` times `outputs` coordinates, input-major. y4 is coordinate 4,
/// y[2,1] output 1 at input 2. Classes are outputs, and need one input.
struct OutputShape {
  Index outputs = 0;
  Index inputs = 1;
};

/// Throws InvalidArgument with the place in the text, counted from 1. At most 1000 characters.
Statement parse_statement(std::string_view text, const OutputShape& shape);

}  // namespace mixcert
