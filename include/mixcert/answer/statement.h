// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Several half-spaces at once, and how they are written.
#pragma once

#include <string_view>

#include "mixcert/core/types.h"

namespace mixcert {

// What a probability is asked of: several half-spaces at once. Text becomes a statement in
// statement_parser.h.

/// rows * y > thresholds, in every row. A box has rows of single coordinates.
struct Statement {
  Matrix rows;        ///< half-spaces x dimension
  Vector thresholds;  ///< one per half-space

  /// Throws InvalidArgument unless there is a row, all are of the dimension and have a largest coefficient
  /// between 1e-100 and 1e100, and thresholds are finite.
  void validate(Index dimension) const;
};

/// y_winner > y_j for all other j of the `classes` outputs from `first` on; `winner` counts from `first`.
Statement class_statement(Index dimension, Index first, Index classes, Index winner);

// Statements as text: "y3 > 0", "y3 > y5", "-1 < y0 < 1", "2*y0 - y1 <= 0.5", "class 3 beats class 5", joined
// by "and". Outputs are numbered from 0. Whether a comparison is strict makes no difference to what is
// certified.

/// What the outputs of a law are: `inputs` times `outputs` coordinates, input-major. y4 is coordinate 4,
/// y[2,1] output 1 at input 2. Classes are outputs, and need one input.
struct OutputShape {
  Index outputs = 0;
  Index inputs = 1;
};

/// Throws InvalidArgument with the place in the text, counted from 1. At most 1000 characters.
Statement parse_statement(std::string_view text, const OutputShape& shape);

/// Weights of the outputs in a sum such as "y0 - y3" or "0.5*y1 + 0.5*y2": what combined_output() takes.
Vector parse_functional(std::string_view text, Index outputs);

}  // namespace mixcert
