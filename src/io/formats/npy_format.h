// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The .npy format over any source of bytes, shared by .npy and .npz files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/files/byte_source.h"
#include "io/formats/elements.h"
#include "mixcert/io/array.h"

namespace mixcert::io {

struct NpyHeader {
  ElementType type;
  bool fortran_order = false;
  std::vector<Index> shape;
};

/// Parses {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }, keys in any order.
NpyHeader parse_npy_header(std::string_view text, const std::string& file);

/// Magic, version and header of a C-order array, padded to a multiple of 64 bytes.
std::string npy_preamble(const std::vector<Index>& shape, const std::string& type = "<f8");

/// Reads the source from its beginning to its end, in order, once.
Array read_npy_source(ByteSource& source, const ReadLimits& limits);

}  // namespace mixcert::io
