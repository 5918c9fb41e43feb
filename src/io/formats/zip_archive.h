// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Zip archives from untrusted files, by libzip: entries stored or deflated. Encrypted entries, other
// compressions, names that repeat and sizes that no deflated stream could expand to are refused before
// anything is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "io/files/byte_source.h"

namespace mixcert::io {

/// One entry, decompressed as it is read: offsets must follow each other. The archive must outlive it.
class ZipEntry : public ByteSource {
 public:
  using ByteSource::ByteSource;
  /// Lets libzip compare the checksum, which it does at the end of the entry.
  virtual void check_end() = 0;
};

class ZipArchive {
 public:
  /// Throws FileError where the file is no zip archive of 1..max_entries entries.
  ZipArchive(const std::filesystem::path& path, std::int64_t max_entries);
  /// From memory, which must outlive the archive; `label` stands for the file name.
  ZipArchive(std::span<const std::byte> bytes, std::string label, std::int64_t max_entries);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  struct Entry {
    std::uint64_t index = 0;
    std::uint64_t size = 0;  ///< bytes, decompressed
  };

  [[nodiscard]] const std::string& label() const { return label_; }
  [[nodiscard]] const std::map<std::string, Entry>& entries() const { return entries_; }
  /// `label` names the entry in messages.
  [[nodiscard]] std::unique_ptr<ZipEntry> open(const Entry& entry, const std::string& label) const;

 private:
  class Handle;
  void list_entries(std::int64_t max_entries);
  void add_entry(std::uint64_t index);

  std::string label_;
  std::unique_ptr<Handle> handle_;
  std::map<std::string, Entry> entries_;
};

}  // namespace mixcert::io
