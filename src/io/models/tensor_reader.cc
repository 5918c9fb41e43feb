// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading tensors of expected shapes.
#include "io/models/tensor_reader.h"

#include "io/files/file_error.h"

namespace mixcert::io {

void TensorReader::fail(const std::string& expected, const std::string& got) const {
  bad_file(reader_.label(), "layer " + in_quotes(layer_), expected, got);
}

void TensorReader::require_shape(std::string_view ending, const std::vector<Index>& shape) const {
  const auto found = reader_.tensors().find(full(ending));
  const bool missing = found == reader_.tensors().end();
  if (!missing && found->second.shape == shape) return;
  bad_file(reader_.label(), "tensor " + in_quotes(full(ending)), "shape " + shape_text(shape),
           missing ? "no such tensor" : shape_text(found->second.shape));
}

Matrix TensorReader::matrix(std::string_view ending, Index rows, Index columns) const {
  require_shape(ending, {rows, columns});
  return as_matrix(reader_.read(full(ending)));
}

Vector TensorReader::values(std::string_view ending, const std::vector<Index>& shape) const {
  require_shape(ending, shape);
  const Array array = reader_.read(full(ending));
  return Eigen::Map<const Vector>(array.values.data(), array.size());
}

}  // namespace mixcert::io
