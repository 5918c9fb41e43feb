// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Tensors of ONNX files: raw bytes or typed fields, floating-point numbers or integers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "io/onnx/onnx_model.h"
#include "io/onnx/protobuf/onnx_messages.h"

namespace mixcert::io {

/// What is left of the memory that a file may take.
class OnnxAllowance {
 public:
  OnnxAllowance(std::string label, std::uint64_t bytes) : label_(std::move(label)), bytes_(bytes) {}

  [[nodiscard]] const std::string& label() const { return label_; }
  /// Throws ResourceError where `count` numbers of `field` are too many.
  void take(const std::string& field, std::uint64_t count);

 private:
  std::string label_;
  std::uint64_t bytes_;
};

/// Half precision is refused, as are data in other files, texts and complex numbers. Infinity and NaN are
/// values like others here (Clip has infinite ends).
OnnxTensor read_onnx_tensor(const onnx::TensorProto& proto, const std::string& field,
                            OnnxAllowance& allowance);

}  // namespace mixcert::io
