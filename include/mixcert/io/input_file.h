// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Inputs from files.
#pragma once

#include <filesystem>
#include <string>

#include "mixcert/io/array.h"
#include "mixcert/network/input_noise.h"

namespace mixcert {

// The inputs at which a network is examined, from .npy or .csv.

/// Chooses by the extension .npy or .csv. Gives features x inputs: each column is one
/// input. In the file the first axis counts inputs; further axes are flattened in C
/// order; an array of rank 1 holds inputs of one feature. Throws FileError for rank 0,
/// no inputs, no features, nan and inf (naming the index), ResourceError for sizes above
/// the limit.
Matrix read_inputs(const std::filesystem::path& path, const ReadLimits& limits = {});

/// The same for an array that came from `label`.
Matrix inputs_from_array(const Array& array, const std::string& label);

// The file of --inputs: inputs alone (.npy, .csv), or a .npz archive that may say how they are disturbed as
// well, docs/result-format.md "Input files". Result files hold the same arrays, so that they are input files
// too.

class NpzReader;
class NpzWriter;

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
