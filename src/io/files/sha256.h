// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fingerprint of a file or of bytes, so that a result names the model it belongs to.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace mixcert {

/// 64 lower-case hexadecimal digits. Throws FileError.
std::string sha256_of_file(const std::filesystem::path& path);
/// The same of bytes in memory.
std::string sha256_of(std::string_view bytes);

}  // namespace mixcert
