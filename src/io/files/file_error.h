// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How readers say what is wrong with a file: one line with file, field, what was
// expected and what was found. Text that comes from the file is escaped and shortened,
// so that a hostile file can neither break the line nor flood it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert::io {

/// Throws FileError("FILE: FIELD: expected EXPECTED, got GOT").
[[noreturn]] void bad_file(const std::string& file, const std::string& field, const std::string& expected,
                           const std::string& got);

/// Throws FileError("FILE: cannot ACTION: reason of errno").
[[noreturn]] void system_failure(const std::string& file, const std::string& action, int error_number);

/// 'text', unprintable bytes as \xNN, at most 60 bytes of it.
std::string in_quotes(std::string_view text);

/// "[3, 4]".
std::string shape_text(const std::vector<Index>& shape);

/// Multi-index of the flat C-order index: "[1, 2]"; "[]" for rank 0.
std::string index_text(const std::vector<Index>& shape, Index flat);

/// "1.5 GiB", "200 bytes", ...
std::string memory_text(double bytes);

/// Product of the sizes; nothing where one is negative or the product overflows 2^62.
std::optional<Index> element_count(const std::vector<Index>& shape);

/// Throws ResourceError saying how much `what` needs unless bytes <= max_bytes.
void check_memory(const std::string& file, const std::string& what, double bytes, std::uint64_t max_bytes);

/// Reserves room; a failed allocation becomes ResourceError.
void reserve_values(std::vector<double>& values, Index count, const std::string& file);

}  // namespace mixcert::io
