// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Safetensors files: 8 bytes little-endian header length, a JSON header, raw tensors.
// Tensors of every type are listed; only F32 and F64 can be read. Unused bytes between
// tensors are allowed, overlapping tensors are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mixcert/io/array.h"

namespace mixcert {

namespace io {
class ByteSource;
}  // namespace io

struct TensorInfo {
  std::string dtype;         ///< as the file spells it
  std::vector<Index> shape;  ///< product and dtype agree with the offsets
  std::uint64_t begin = 0;   ///< offset in the file
  std::uint64_t end = 0;
};

class SafetensorsReader {
 public:
  /// Reads and checks the header; throws FileError or ResourceError.
  explicit SafetensorsReader(const std::filesystem::path& path, const ReadLimits& limits = {});
  /// From memory, which must outlive the reader; `label` stands for the file name.
  SafetensorsReader(std::span<const std::byte> bytes, const std::string& label,
                    const ReadLimits& limits = {});

  [[nodiscard]] const std::string& label() const;
  [[nodiscard]] const ReadLimits& limits() const { return limits_; }
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
  [[nodiscard]] const std::map<std::string, TensorInfo>& tensors() const { return tensors_; }
  [[nodiscard]] bool contains(const std::string& name) const { return tensors_.contains(name); }
  /// Values of one tensor. Throws FileError where it is missing, of another type, or
  /// holds nan or inf (naming the index); ResourceError where it is too large.
  [[nodiscard]] Array read(const std::string& name) const;

 private:
  void read_header();

  std::shared_ptr<io::ByteSource> source_;
  ReadLimits limits_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, TensorInfo> tensors_;
};

class AtomicFile;

/// Appends a block of F64 tensors in the order of their names: what a file of them alone would hold.
void append_safetensors(const std::map<std::string, Array>& tensors,
                        const std::map<std::string, std::string>& metadata, AtomicFile& file);

/// Writes F64 tensors, atomically, in the order of their names.
void write_safetensors(const std::filesystem::path& path, const std::map<std::string, Array>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace mixcert
