// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The bytes of a pickle, taken from the front; every read is checked against the end.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "io/files/file_error.h"
#include "mixcert/core/types.h"

namespace mixcert::io {

class PickleBytes {
 public:
  PickleBytes(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  [[nodiscard]] std::size_t position() const { return position_; }

  [[noreturn]] void fail(const std::string& expected, const std::string& got) const {
    bad_file(file_, "pickle", expected, got);
  }

  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - position_) {
      fail(std::to_string(count) + " bytes at byte " + std::to_string(position_),
           std::to_string(bytes_.size() - position_));
    }
    position_ += count;
    return bytes_.substr(position_ - count, count);
  }
  template <class T>
  T integer() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  double big_endian_double() {
    const std::string_view bytes = take(8);
    std::uint64_t bits = 0;
    for (const char byte : bytes) bits = bits << 8U | static_cast<unsigned char>(byte);
    return std::bit_cast<double>(bits);
  }
  /// Little-endian two's complement of up to 8 bytes.
  Index long_integer() {
    const std::string_view bytes = take(integer<std::uint8_t>());
    if (bytes.size() > 8) fail("integers of at most 8 bytes", std::to_string(bytes.size()) + " bytes");
    std::uint64_t bits = 0;
    const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0;
    if (negative) bits = ~std::uint64_t{0};
    for (std::size_t i = bytes.size(); i-- > 0;) bits = bits << 8U | static_cast<unsigned char>(bytes[i]);
    return static_cast<Index>(bits);
  }
  std::string line() {
    const std::size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) fail("a line", "the end of the pickle");
    const std::string_view text = bytes_.substr(position_, end - position_);
    position_ = end + 1;
    return std::string(text);
  }

 private:
  std::string_view bytes_;
  const std::string& file_;
  std::size_t position_ = 0;
};

}  // namespace mixcert::io
