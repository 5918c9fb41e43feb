// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The one place that names and opens a file beside an output file.
#pragma once

#include <filesystem>

namespace mixcert::io {

struct PartialFile {
  int descriptor = -1;
  std::filesystem::path path;
};

/// Creates DIR/.NAME.partial-PID-UNIQUE for reading and writing; throws FileError.
PartialFile create_partial_file(const std::filesystem::path& target);

}  // namespace mixcert::io
