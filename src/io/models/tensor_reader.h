// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The tensors of one layer of a model file by the ends of their names; shapes are checked before anything is
// read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/formats/safetensors.h"
#include "mixcert/core/types.h"

namespace mixcert::io {

class TensorReader {
 public:
  /// Both must outlive this.
  TensorReader(const SafetensorsReader& reader, const std::string& layer) : reader_(reader), layer_(layer) {}

  [[nodiscard]] bool has(std::string_view ending) const { return reader_.contains(full(ending)); }
  [[nodiscard]] std::string full(std::string_view ending) const { return layer_ + std::string(ending); }
  [[nodiscard]] Matrix matrix(std::string_view ending, Index rows, Index columns) const;
  /// A tensor of the given shape, flat in C order.
  [[nodiscard]] Vector values(std::string_view ending, const std::vector<Index>& shape) const;
  [[nodiscard]] const SafetensorsReader& file() const { return reader_; }
  /// Throws FileError "FILE: layer 'NAME': expected ..., got ...".
  [[noreturn]] void fail(const std::string& expected, const std::string& got) const;

 private:
  void require_shape(std::string_view ending, const std::vector<Index>& shape) const;

  const SafetensorsReader& reader_;
  const std::string& layer_;
};

}  // namespace mixcert::io
