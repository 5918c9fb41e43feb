// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Whole boxes of inputs: cells that cover the box, each with a mixture and a bound that hold at every input
// of the cell.
#pragma once

#include <functional>
#include <vector>

#include "mixcert/certificate/options.h"
#include "mixcert/certificate/result.h"
#include "mixcert/certificate/services.h"
#include "mixcert/network/ensemble.h"

namespace mixcert {

struct InputCover {
  Matrix centres;               ///< at which cells were certified, one per column
  std::vector<Result> results;  ///< of the cells, halves side by side; Result::cell says where each holds
  Index certificates = 0;       ///< that were made, those of cells that were split included
  bool is_interrupted = false;  ///< was it cancelled before its end? The cells cover the box all the same.
};

/// Called with the number of cells so far.
using CellProgress = std::function<void(Index)>;

/// Splits the box where bounds are largest until all are at most options.epsilon, or splitting gains nothing
/// any more, or there are options.max_cells cells (M.11); cancelled, it returns the cells it has, and throws
/// Interrupted where there is none. Throws as certify() does; InvalidArgument for a box
/// that is not finite or empty, and for options that are about the law at one input.
InputCover certify_box(const Ensemble& ensemble, const InputBox& box, const Options& options,
                       const Services& services = {}, const CellProgress& progress = {});

}  // namespace mixcert
