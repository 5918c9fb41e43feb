// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The file of --inputs: inputs alone (.npy, .csv), or a .npz archive that may say how they are disturbed as
// well, docs/result-format.md "Input files". Result files hold the same arrays, so that they are input files
// too.
#pragma once

#include <filesystem>
#include <string>

#include "mixcert/io/array.h"
#include "mixcert/io/npz.h"
#include "mixcert/network/input_noise.h"

namespace mixcert {

struct InputFile {
  Matrix inputs;     ///< one per column
  InputNoise noise;  ///< none, unless the archive has a law
};

/// Throws FileError naming file, array, expected and got; ResourceError for sizes above the limit.
InputFile read_input_file(const std::filesystem::path& file, const ReadLimits& limits = {});
/// The same from an archive that is open; `label` stands for its name in messages.
InputFile read_input_arrays(NpzReader& reader, const std::string& label);

/// Adds what read_input_arrays() reads back. `inputs` must outlive the writing of the archive. Throws
/// InvalidArgument for noise that is not Gaussian or of another dimension.
void add_input_arrays(NpzWriter& writer, const Matrix& inputs, const InputNoise& noise);

}  // namespace mixcert
