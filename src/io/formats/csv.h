// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Numeric tables as comma-separated text: one row per line, at most one header line (a
// first line without any number), LF or CRLF, empty lines only at the end. Quoted cells,
// other separators and comments are not handled.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "mixcert/io/array.h"

namespace mixcert {

/// Array of rank 2. Ragged rows, empty cells, text, nan and inf throw FileError naming
/// line and column.
Array read_csv(const std::filesystem::path& path, const ReadLimits& limits = {});
/// The same from memory; `label` stands for the file name in messages.
Array parse_csv(std::span<const std::byte> bytes, const std::string& label, const ReadLimits& limits = {});

}  // namespace mixcert
