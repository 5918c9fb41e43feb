// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Texts of the readers' error messages.
#include "io/files/file_error.h"

#include <array>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <system_error>

#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

constexpr std::size_t kMaxQuoted = 60;
constexpr Index kMaxElements = Index{1} << 62;

std::string join(const std::vector<Index>& numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(numbers[i]);
  }
  text += ']';
  return text;
}

}  // namespace

void bad_file(const std::string& file, const std::string& field, const std::string& expected,
              const std::string& got) {
  throw FileError(file + ": " + field + ": expected " + expected + ", got " + got);
}

void system_failure(const std::string& file, const std::string& action, int error_number) {
  throw FileError(file + ": cannot " + action + ": " + std::generic_category().message(error_number));
}

std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char raw : text.substr(0, kMaxQuoted)) {
    const auto byte = static_cast<unsigned char>(raw);
    if (byte >= 0x20 && byte < 0x7F) {
      result += raw;
    } else {
      std::array<char, 8> escape{};
      (void)std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned>(byte));
      result += escape.data();
    }
  }
  return result + (text.size() > kMaxQuoted ? "...'" : "'");
}

std::string shape_text(const std::vector<Index>& shape) { return join(shape); }

std::string index_text(const std::vector<Index>& shape, Index flat) {
  std::vector<Index> indices(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    indices[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return join(indices);
}

std::string memory_text(double bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024.0 && unit + 1 < kUnits.size()) {
    bytes /= 1024.0;
    ++unit;
  }
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), "%.4g %s", bytes, kUnits[unit]);
  return text.data();
}

std::optional<Index> element_count(const std::vector<Index>& shape) {
  Index count = 1;
  bool empty = false;
  for (const Index size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) {
      empty = true;
    } else if (count > kMaxElements / size) {
      return std::nullopt;
    } else {
      count *= size;
    }
  }
  return empty ? 0 : count;
}

void check_memory(const std::string& file, const std::string& what, double bytes, std::uint64_t max_bytes) {
  if (bytes <= static_cast<double>(max_bytes)) return;
  throw ResourceError(file + ": " + what + " needs " + memory_text(bytes) + " of memory, at most " +
                      memory_text(static_cast<double>(max_bytes)) + " is allowed");
}

void reserve_values(std::vector<double>& values, Index count, const std::string& file) {
  try {
    values.reserve(static_cast<std::size_t>(count));
  } catch (const std::bad_alloc&) {
    throw ResourceError(file + ": " + memory_text(8.0 * static_cast<double>(count)) +
                        " of memory could not be had");
  } catch (const std::length_error&) {
    throw ResourceError(file + ": " + memory_text(8.0 * static_cast<double>(count)) +
                        " is more than can be addressed");
  }
}

}  // namespace mixcert::io
