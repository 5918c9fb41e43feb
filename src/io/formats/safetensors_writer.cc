// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Writing safetensors files.
#include <nlohmann/json.hpp>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/formats/elements.h"
#include "io/formats/safetensors.h"
#include "mixcert/core/error.h"

namespace mixcert {

void write_safetensors(const std::filesystem::path& path, const std::map<std::string, Array>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = {{"__metadata__", metadata}};
  std::uint64_t offset = 0;
  for (const auto& [name, array] : tensors) {
    require(io::element_count(array.shape) == array.size(),
            "write_safetensors: tensor " + io::in_quotes(name) + ": expected values for shape " +
                io::shape_text(array.shape) + ", got " + std::to_string(array.size()));
    const std::uint64_t end = offset + array.values.size() * sizeof(double);
    header[name] = {{"dtype", "F64"}, {"shape", array.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string prefix;
  for (unsigned i = 0; i < 8; ++i)
    prefix += static_cast<char>((std::uint64_t{text.size()} >> (8 * i)) & 0xFFU);
  AtomicFile file(path);
  file.write(prefix);
  file.write(text);
  for (const auto& [name, array] : tensors)
    file.write(array.values.data(), array.values.size() * sizeof(double));
  file.commit();
}

}  // namespace mixcert
