// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a probability is asked of: several half-spaces at once. Text becomes a statement in
// statement_parser.h.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

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

}  // namespace mixcert
