// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// NumPy's files: single arrays, .npy, and archives of them, .npz. Nothing in a file is ever executed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/atomic_file.h"
#include "io/files/byte_source.h"
#include "io/formats/elements.h"
#include "mixcert/io/array.h"

namespace mixcert {

// .npy files, format versions 1.0, 2.0 and 3.0. Read: elements <f4 <f8 >f4 >f8 <i4 <i8 |u1 |b1, C or Fortran
// order, rank up to 8. Written: <f8, C order. Structured, complex, string and pickled arrays are refused.

/// NaN and infinity are values like others here. Throws FileError or ResourceError.
Array read_npy(const std::filesystem::path& path, const ReadLimits& limits = {});
/// The same from memory; `label` stands for the file name in messages.
Array parse_npy(std::span<const std::byte> bytes, const std::string& label, const ReadLimits& limits = {});

void write_npy(const std::filesystem::path& path, const Array& array);

/// Writes an array whose shape is known beforehand, piece by piece in C order. A
/// column-major matrix outputs x samples is a piece [samples, outputs].
class NpyWriter {
 public:
  NpyWriter(const std::filesystem::path& path, const std::vector<Index>& shape);
  /// Throws InvalidArgument where the array would overflow.
  void append(std::span<const double> values);
  /// The file appears now. Throws InvalidArgument where values are missing.
  void finish();

 private:
  AtomicFile file_;
  Index expected_ = 0;
  Index written_ = 0;
};

// .npz files: zip archives of .npy arrays, stored or deflated. Encrypted entries, other compressions and
// entries that are no .npy file are refused. Claimed sizes are checked before anything is allocated, and
// sizes that no deflated stream could expand to are refused.

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

namespace mixcert::io {

// The .npy format over any source of bytes, shared by both.

struct NpyHeader {
  ElementType type;
  bool fortran_order = false;
  std::vector<Index> shape;
};

/// Parses {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }, keys in any order.
NpyHeader parse_npy_header(std::string_view text, const std::string& file);

/// Magic, version and header of a C-order array, padded to a multiple of 64 bytes.
std::string npy_preamble(const std::vector<Index>& shape, const std::string& type = "<f8");

/// Reads the source from its beginning to its end, in order, once.
Array read_npy_source(ByteSource& source, const ReadLimits& limits);

}  // namespace mixcert::io
