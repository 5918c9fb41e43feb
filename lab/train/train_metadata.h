// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a trained network's file and a checkpoint say about the training.
#pragma once

#include <optional>

#include "data/dataset.h"
#include "train/model_output.h"
#include "train/train_options.h"

namespace mixcert::lab {

/// Everything the result depends on, as text: options, data, and the files that options name.
Metadata training_identity(const Dataset& data, const TrainOptions& options);

/// Entries of the model file: "training" (options as JSON), "noise_std", "standardisation" (JSON).
/// Nothing that differs between two runs of one command.
Metadata model_metadata(const Dataset& data, const TrainOptions& options, std::optional<double> noise_std);

}  // namespace mixcert::lab
