// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Element types of .npy, safetensors and PyTorch files and their conversion to double. Integers
// beyond 2^53 are refused: a double would silently hold another number.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/files/byte_source.h"
#include "mixcert/core/types.h"

namespace mixcert::io {

static_assert(std::endian::native == std::endian::little, "big-endian machines are not handled");

enum class ElementKind { Float16, BFloat16, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, Bool };

struct ElementType {
  ElementKind kind = ElementKind::Float64;
  bool big_endian = false;

  [[nodiscard]] std::size_t bytes() const;
};

/// Reads prod(shape) elements at `offset`, in file order. The caller has checked that
/// they lie inside the source; memory is taken as the bytes arrive.
std::vector<double> read_elements(ByteSource& source, std::uint64_t offset, const std::vector<Index>& shape,
                                  ElementType type, const std::string& field);

/// Throws FileError naming `field` and the index of the first value that is not finite.
void require_finite(const std::vector<double>& values, const std::vector<Index>& shape,
                    const std::string& file, const std::string& field);

}  // namespace mixcert::io
