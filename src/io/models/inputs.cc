// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Inputs of a network from files.
#include "io/files/file_error.h"
#include "io/formats/csv.h"
#include "io/formats/elements.h"
#include "io/formats/npy.h"
#include "mixcert/io/input_file.h"

namespace mixcert {

Matrix inputs_from_array(const Array& array, const std::string& label) {
  if (array.rank() == 0) io::bad_file(label, "inputs", "an array [inputs, features]", "a single number");
  const Index inputs = array.shape[0];
  if (array.size() == 0) {
    io::bad_file(label, "inputs", "at least one input and one feature",
                 "shape " + io::shape_text(array.shape));
  }
  io::require_finite(array.values, array.shape, label, "inputs");
  // C order [inputs, features] is column-major features x inputs.
  return Eigen::Map<const Matrix>(array.values.data(), array.size() / inputs, inputs);
}

Matrix read_inputs(const std::filesystem::path& path, const ReadLimits& limits) {
  const std::string extension = path.extension().string();
  if (extension == ".npy") return inputs_from_array(read_npy(path, limits), path.string());
  if (extension == ".csv") return inputs_from_array(read_csv(path, limits), path.string());
  io::bad_file(path.string(), "inputs", "a file name that ends in .npy or .csv", io::in_quotes(extension));
}

}  // namespace mixcert
