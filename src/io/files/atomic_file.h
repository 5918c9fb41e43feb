// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Files beside an output file: one that appears whole or not at all, and one that nobody else sees.
#pragma once

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "mixcert/core/types.h"

namespace mixcert {

// Files that appear whole or not at all: written beside the target under another name, renamed at the end.
// Whatever fails before that leaves the target as it was. Two programs that write the same target at once do
// not disturb each other; the last wins.

class AtomicFile {
 public:
  /// Opens DIR/.NAME.partial-PID-UNIQUE. A target that is a link to a file stands for
  /// that file. Throws FileError where the directory cannot be written or the target
  /// exists and is no regular file.
  explicit AtomicFile(const std::filesystem::path& target);
  /// Removes the partial file unless it was committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::filesystem::path& target() const { return target_; }
  /// The file while it grows.
  [[nodiscard]] const std::filesystem::path& partial_path() const { return partial_; }
  /// The name by which a library may write all of it instead: it may replace that file, and the partial one
  /// stays locked.
  const std::filesystem::path& for_library();
  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Everything written is on the disk when this returns; no more may be written.
  void flush_to_disk();
  /// flush_to_disk(), then the rename.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path partial_;  ///< locked until the end
  std::filesystem::path written_;  ///< what gets the target's name: the partial file, or the library's
  std::FILE* stream_ = nullptr;
  int lock_ = -1;  ///< after the stream is closed: holds the lock until the file has its name
  bool committed_ = false;
};

}  // namespace mixcert

namespace mixcert::io {

// Doubles kept on the disk beside an output file. The file has no name once it is open, so that nothing is
// left behind however the program ends.

class SpillFile {
 public:
  explicit SpillFile(const std::filesystem::path& target);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  void append(std::span<const double> values);
  /// Values [begin, begin + out.size()) of what was appended.
  void read(Index begin, std::span<double> out);

 private:
  std::string label_;
  std::FILE* stream_;
};

}  // namespace mixcert::io
