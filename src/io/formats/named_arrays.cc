// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Dictionaries of arrays from the files that other libraries write.
#include "io/files/file_error.h"
#include "io/formats/npz.h"
#include "io/formats/safetensors.h"
#include "io/formats/torch_file.h"
#include "mixcert/core/error.h"
#include "mixcert/io/array.h"
#include "mixcert/io/weight_conventions.h"

namespace mixcert {

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
