// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// NumPy's .npy files, format versions 1.0, 2.0 and 3.0. Read: elements <f4 <f8 >f4 >f8
// <i4 <i8 |u1 |b1, C or Fortran order, rank up to 8. Written: <f8, C order. Structured,
// complex, string and pickled arrays are refused; nothing in a file is ever executed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "io/files/atomic_file.h"
#include "mixcert/io/array.h"

namespace mixcert {

/// NaN and infinity are values like others here. Throws FileError or ResourceError.
Array read_npy(const std::filesystem::path& path, const ReadLimits& limits = {});
/// The same from memory; `label` stands for the file name in messages.
Array parse_npy(std::span<const std::byte> bytes, const std::string& label, const ReadLimits& limits = {});

void write_npy(const std::filesystem::path& path, const Array& array);

/// Writes an array whose shape is known beforehand, piece by piece in C order. A
/// column-major matrix outputs x samples is a piece [samples, outputs].
class NpyWriter {
 public:
  NpyWriter(const std::filesystem::path& path, const std::vector<Index>& shape);
  /// Throws InvalidArgument where the array would overflow.
  void append(std::span<const double> values);
  /// The file appears now. Throws InvalidArgument where values are missing.
  void finish();

 private:
  AtomicFile file_;
  Index expected_ = 0;
  Index written_ = 0;
};

}  // namespace mixcert
