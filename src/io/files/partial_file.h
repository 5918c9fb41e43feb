// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Files beside an output file, DIR/.NAME.partial-PID-UNIQUE: how they are made, who removes them where a
// signal ends the program, and what a program that was killed has left.
#pragma once

#include <filesystem>

namespace mixcert::io {

// Whoever writes such a file holds a lock on it (flock), which ends with its process. A file that nobody has
// locked, of a process that does not run, is a leftover: the next program that writes the same target removes
// it, and the files that libraries put beside it under its name and an ending.

struct PartialFile {
  int descriptor = -1;  ///< open for reading and writing, locked
  std::filesystem::path path;
};

/// Removes leftovers of the target and creates the file. Throws FileError. The one place that names and opens
/// a file beside an output file.
PartialFile create_partial_file(const std::filesystem::path& target);

/// A file that a signal has to remove as well.
void remember_partial_file(const std::filesystem::path& path);

/// The file was renamed or removed: a signal need not remove it any more.
void forget_partial_file(const std::filesystem::path& path);

/// Removes the files that this process has not forgotten, at most sixteen. A signal handler may call it.
void remove_partial_files() noexcept;

}  // namespace mixcert::io
