// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// NumPy's .npz files: zip archives of .npy arrays, stored or deflated. Encrypted
// entries, other compressions and entries that are no .npy file are refused. Claimed
// sizes are checked before anything is allocated, and sizes that no deflated stream
// could expand to are refused.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mixcert/io/array.h"

namespace mixcert {

class NpzReader {
 public:
  /// Throws FileError or ResourceError, as read() does.
  explicit NpzReader(const std::filesystem::path& path, const ReadLimits& limits = {});
  /// From memory, which must outlive the reader.
  NpzReader(std::span<const std::byte> bytes, const std::string& label, const ReadLimits& limits = {});
  ~NpzReader();
  NpzReader(NpzReader&&) noexcept;
  NpzReader& operator=(NpzReader&&) noexcept;

  /// Names without ".npy".
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool contains(const std::string& name) const;
  /// What was read so far counts against the limit.
  Array read(const std::string& name);

 private:
  class Archive;
  std::unique_ptr<Archive> archive_;
};

std::map<std::string, Array> read_npz(const std::filesystem::path& path, const ReadLimits& limits = {});

/// Writes an archive: stored, because doubles hardly shrink, and the same bytes for the
/// same arrays. Nothing exists under the final name before commit().
class NpzWriter {
 public:
  /// Fills in block `index` along the first axis, in C order.
  using FillBlock = std::function<void(Index index, std::span<double> block)>;

  explicit NpzWriter(const std::filesystem::path& path);
  ~NpzWriter();
  NpzWriter(const NpzWriter&) = delete;
  NpzWriter& operator=(const NpzWriter&) = delete;

  /// The array is kept until the archive is written.
  void add(const std::string& name, Array array);
  /// Array of rank at least 1 that is made block by block while the archive is written;
  /// memory for one block.
  void add(const std::string& name, std::vector<Index> shape, FillBlock fill);
  /// The bytes of a text, as an array of elements |u1.
  void add_text(const std::string& name, const std::string& text);
  /// Writes the archive beside its final name, to the disk.
  void write();
  /// write() where that was not done yet, then the rename.
  void commit();

 private:
  class Archive;
  std::unique_ptr<Archive> archive_;
};

void write_npz(const std::filesystem::path& path, const std::map<std::string, Array>& arrays);

}  // namespace mixcert
