// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Operators that keep all values and their order and change the shape alone, of constants and of what flows.
#pragma once

#include <vector>

#include "io/onnx/onnx_step.h"

namespace mixcert::io {

/// Behind Identity, Reshape, Flatten, Squeeze or Unsqueeze; `shape` has all axes, the batch too.
std::vector<Index> moved_shape(const OnnxStep& step, const std::vector<Index>& shape);

/// [batch, sizes...].
std::vector<Index> with_batch(const OnnxStep& step, const std::vector<Index>& sizes);

enum class CastTarget { FloatingPoint, Integers };
CastTarget cast_target(const OnnxStep& step);

/// What flows through one of the operators above: the same entry with other sizes. The batch has to stay the
/// first axis.
OnnxValue convert_moved(const OnnxStep& step);

}  // namespace mixcert::io
