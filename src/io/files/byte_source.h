// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bytes to be parsed, of a file or of a piece of memory, and their fingerprint. Files are read with pread
// rather than mapped: a file that shrinks while it is read is then an error, not a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mixcert::io {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Name for messages.
  [[nodiscard]] const std::string& label() const { return label_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Bytes [offset, offset + count); throws FileError naming `field` when they reach
  /// past the end.
  void read(std::uint64_t offset, void* out, std::size_t count, const std::string& field);

 protected:
  explicit ByteSource(std::string label, std::uint64_t size = 0) : label_(std::move(label)), size_(size) {}
  virtual void read_inside(std::uint64_t offset, void* out, std::size_t count) = 0;
  void set_size(std::uint64_t size) { size_ = size; }

 private:
  std::string label_;
  std::uint64_t size_;
};

/// Does not own the bytes.
class MemorySource : public ByteSource {
 public:
  MemorySource(std::span<const std::byte> bytes, std::string label)
      : ByteSource(std::move(label), bytes.size()), bytes_(bytes) {}

 protected:
  void read_inside(std::uint64_t offset, void* out, std::size_t count) override;

 private:
  std::span<const std::byte> bytes_;
};

class FileSource : public ByteSource {
 public:
  /// Throws FileError where the file cannot be opened or is no regular file.
  explicit FileSource(const std::filesystem::path& path);
  ~FileSource() override;

 protected:
  void read_inside(std::uint64_t offset, void* out, std::size_t count) override;

 private:
  int descriptor_ = -1;
};

}  // namespace mixcert::io

namespace mixcert {

// Fingerprint of a file or of bytes, so that a result names the model it belongs to.

/// 64 lower-case hexadecimal digits. Throws FileError.
std::string sha256_of_file(const std::filesystem::path& path);
/// The same of bytes in memory.
std::string sha256_of(std::string_view bytes);

}  // namespace mixcert
