// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The inputs at which a network is examined, from .npy or .csv.
#pragma once

#include <filesystem>
#include <string>

#include "mixcert/io/array.h"

namespace mixcert {

/// Chooses by the extension .npy or .csv. Gives features x inputs: each column is one
/// input. In the file the first axis counts inputs; further axes are flattened in C
/// order; an array of rank 1 holds inputs of one feature. Throws FileError for rank 0,
/// no inputs, no features, nan and inf (naming the index), ResourceError for sizes above
/// the limit.
Matrix read_inputs(const std::filesystem::path& path, const ReadLimits& limits = {});

/// The same for an array that came from `label`.
Matrix inputs_from_array(const Array& array, const std::string& label);

}  // namespace mixcert
