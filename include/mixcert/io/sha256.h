// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fingerprint of a file, so that a result names the model it belongs to.
#pragma once

#include <filesystem>
#include <string>

namespace mixcert {

/// 64 lower-case hexadecimal digits. Throws FileError.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace mixcert
