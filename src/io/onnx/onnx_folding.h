// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the folding of constants is made of.
#pragma once

#include <memory>
#include <utility>

#include "io/onnx/onnx_step.h"

namespace mixcert::io {

inline OnnxValue pointed(OnnxConstant constant) {
  return std::make_shared<const OnnxConstant>(std::move(constant));
}

/// Add, Sub, Mul and Div of two constants of one shape, or of one and a number.
OnnxValue fold_arithmetic(const OnnxStep& step);

}  // namespace mixcert::io
