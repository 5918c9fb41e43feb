// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One libFuzzer entry for every reader: bytes in, and nothing but the library's own
// exceptions out. Limits are small, so that a run spends its time in the parsers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mixcert/core/error.h"
#include "mixcert/io/array.h"

namespace mixcert::fuzz {

inline constexpr ReadLimits kLimits{std::uint64_t{1} << 16U};

/// Any other exception ends the run, as do the sanitizers.
template <class Reader>
int run(const std::uint8_t* data, std::size_t size, Reader reader) {
  try {
    reader(std::as_bytes(std::span(data, size)));
  } catch (const FileError&) {
  } catch (const ResourceError&) {
  } catch (const InvalidArgument&) {
  }
  return 0;
}

}  // namespace mixcert::fuzz
