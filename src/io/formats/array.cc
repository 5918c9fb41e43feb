// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Conversions between arrays and Eigen, and dictionaries of arrays from the files that other libraries write.
#include "mixcert/io/array.h"

#include "io/files/file_error.h"
#include "io/formats/npy.h"
#include "io/formats/safetensors.h"
#include "io/formats/torch_file.h"
#include "mixcert/core/error.h"
#include "mixcert/io/weight_conventions.h"

namespace mixcert {

ConstMatrixView as_matrix(const Array& array) {
  require(array.rank() == 2,
          "as_matrix: expected an array of rank 2, got shape " + io::shape_text(array.shape));
  return {array.values.data(), array.shape[0], array.shape[1]};
}

Array to_array(ConstMatrixRef matrix) {
  Array array{{matrix.rows(), matrix.cols()}, std::vector<double>(static_cast<std::size_t>(matrix.size()))};
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      array.values.data(), matrix.rows(), matrix.cols()) = matrix;
  return array;
}

Array vector_to_array(ConstVectorRef vector) {
  return {{vector.size()}, std::vector<double>(vector.data(), vector.data() + vector.size())};
}

NamedArrays read_named_arrays(const std::vector<std::filesystem::path>& paths, const ReadLimits& limits) {
  NamedArrays all;
  all.keeps_order = true;
  for (const std::filesystem::path& path : paths) {
    const std::string ending = path.extension().string();
    NamedArrays part;
    if (ending == ".pt" || ending == ".pth") {
      part = read_torch_file(path, limits);
    } else if (ending == ".npz") {
      for (auto& [name, array] : read_npz(path, limits)) part.entries.emplace_back(name, std::move(array));
    } else if (ending == ".safetensors") {
      const SafetensorsReader reader(path, limits);
      for (const auto& [name, info] : reader.tensors()) part.entries.emplace_back(name, reader.read(name));
    } else {
      throw InvalidArgument(path.string() + ": expected a file .safetensors, .npz, .pt or .pth, got " +
                            io::in_quotes(ending));
    }
    all.keeps_order = all.keeps_order && part.keeps_order;
    for (auto& entry : part.entries) {
      if (all.find(entry.first) != nullptr) {
        io::bad_file(path.string(), "key " + io::in_quotes(entry.first), "each key in one file", "two");
      }
      all.entries.push_back(std::move(entry));
    }
  }
  return all;
}

}  // namespace mixcert
