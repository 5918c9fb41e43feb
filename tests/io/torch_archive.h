// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Writes archives as torch.save does, opcode by opcode.
#pragma once

#include <zip.h>

#include <algorithm>
#include <bit>
#include <map>

#include "io/test_files.h"
#include "mixcert/io/array.h"

namespace mixcert::test {

inline std::string pickled_text(const std::string& text) {
  return "X" + raw(static_cast<std::uint32_t>(text.size())) + text;
}
inline std::string pickled_integer(std::int32_t value) { return "J" + raw(value); }
inline std::string pickled_double(double value) {
  std::string bytes = raw(value);
  std::reverse(bytes.begin(), bytes.end());
  return "G" + bytes;
}
inline std::string pickled_sizes(const std::vector<Index>& sizes) {
  std::string bytes = "(";
  for (const Index size : sizes) bytes += pickled_integer(static_cast<std::int32_t>(size));
  return bytes + "t";
}
/// A view into storage `key`, wrapped as torch.nn.Parameter where asked.
inline std::string pickled_tensor(const std::string& type, const std::string& key, Index count, Index offset,
                                  const std::vector<Index>& shape, const std::vector<Index>& strides,
                                  bool parameter = false) {
  const std::string hooks = "ccollections\nOrderedDict\n)R";
  const std::string tensor = "ctorch._utils\n_rebuild_tensor_v2\n((" + pickled_text("storage") + "ctorch\n" +
                             type + "\n" + pickled_text(key) + pickled_text("cpu") +
                             pickled_integer(static_cast<std::int32_t>(count)) + "tQ" +
                             pickled_integer(static_cast<std::int32_t>(offset)) + pickled_sizes(shape) +
                             pickled_sizes(strides) + "\x89" + hooks + "tR";
  return parameter ? "ctorch._utils\n_rebuild_parameter\n" + tensor + "\x88" + hooks + "\x87R" : tensor;
}
inline std::string pickled_dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string bytes = "}(";
  for (const auto& [key, value] : items) bytes += key + value;
  return bytes + "u";
}
inline std::string pickle_of(const std::string& body) { return "\x80\x02" + body + "."; }

/// Entry name to bytes, stored.
inline void write_zip(const std::filesystem::path& path, const std::map<std::string, std::string>& entries) {
  int error = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
  for (const auto& [name, bytes] : entries) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const auto index = zip_file_add(archive, name.c_str(), source, 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive) != 0) ADD_FAILURE() << "zip_close";
}

/// The dictionary as torch.save writes a state dict of float64 tensors.
inline void write_torch_file(const std::filesystem::path& path, const NamedArrays& arrays) {
  std::map<std::string, std::string> entries;
  std::vector<std::pair<std::string, std::string>> items;
  for (const auto& [name, array] : arrays.entries) {
    const std::string key = std::to_string(items.size());
    std::vector<Index> strides(array.shape.size(), 1);
    for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * array.shape[i];
    items.emplace_back(pickled_text(name),
                       pickled_tensor("DoubleStorage", key, array.size(), 0, array.shape, strides));
    std::string bytes;
    for (const double value : array.values) bytes += raw(value);
    entries["archive/data/" + key] = bytes;
  }
  entries["archive/data.pkl"] = pickle_of(pickled_dict(items));
  write_zip(path, entries);
}

}  // namespace mixcert::test
