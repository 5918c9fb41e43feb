// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Trainings that end worse than they began.
#pragma once

#include <string>

#include "data/dataset.h"
#include "mixcert/core/error.h"
#include "train/train.h"

namespace mixcert::lab {

/// A training came to its end with a network that is of no use: nothing was written.
class Diverged : public Error {
 public:
  using Error::Error;
};

/// What is wrong with a network whose errors on the training data are more than four times those of the best
/// constant, or whose noise is; "" where nothing is. Of classes: the loss of equal probabilities.
std::string divergence(const Dataset& data, const TrainSummary& summary);

}  // namespace mixcert::lab
