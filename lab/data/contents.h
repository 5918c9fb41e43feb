// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Contents of data files: read whole, gunzipped where the name ends in .gz, and compared with the
// size and sum of the catalogue. Nothing is allocated on the word of the file alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "data/catalogue.h"

namespace mixcert::lab {

/// Bytes of a file as they lie on the disk; FileError where there are more than max_bytes.
std::string read_bytes(const std::filesystem::path& path, std::uint64_t max_bytes);

/// Contents of one gzip member; FileError for damage, an early end, bytes after the end, or more than
/// max_bytes of contents. `label` stands for the file name in messages.
std::string gunzip(std::string_view bytes, const std::string& label, std::uint64_t max_bytes);

/// Hexadecimal digest: md5 for digits = 32, sha256 for digits = 64.
std::string digest(std::string_view bytes, std::size_t digits);

/// What the file holds, uncompressed and checked against `expected`.
struct CheckedFile {
  std::string on_disk;  ///< empty where it is the same as the contents
  std::string contents;
};
CheckedFile read_checked(const std::filesystem::path& path, const DataFile& expected);

/// Throws FileError unless size and sum are as expected.
void check_contents(std::string_view contents, const std::string& label, const DataFile& expected);

/// The checked contents of a file of the data folder; FileError where it is missing.
std::string load_contents(const std::filesystem::path& folder, const DataFile& file);

}  // namespace mixcert::lab
