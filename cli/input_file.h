// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The file of --inputs: inputs alone (.npy, .csv), or a .npz archive that may say how they are disturbed as
// well, docs/result-format.md "Input files".
#pragma once

#include <string>

#include "mixcert/io/array.h"
#include "mixcert/network/input_noise.h"

namespace mixcert::cli {

struct InputFile {
  Matrix inputs;     ///< one per column
  InputNoise noise;  ///< none, unless the archive has a law
};

/// Throws FileError naming file, array, expected and got; ResourceError for sizes above the limit.
InputFile read_input_file(const std::string& file, const ReadLimits& limits);

}  // namespace mixcert::cli
