// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a tensor of an ONNX model is while the nodes are walked through: values that flow from the input, or a
// constant.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "io/onnx/onnx_model.h"
#include "mixcert/network/layer_shape.h"

namespace mixcert::io {

/// In place of an entry: the network's input.
inline constexpr Index kOnnxInput = -1;

/// The values of one entry of the list of layers. Their order is always that of the ONNX tensor, so that
/// flatten, reshape and squeeze change `sizes` alone; `layout` is what the entry itself gives.
struct OnnxFlow {
  Index entry = kOnnxInput;
  std::vector<Index> sizes;  ///< of the ONNX tensor without its first axis, the batch
  LayerShape layout;
};

/// Numbers that do not depend on the input.
struct OnnxConstant {
  OnnxTensor tensor;
  std::vector<double> variances = {};  ///< in the order of the values; empty: no noise
  std::string origin = {};             ///< the initialiser that the numbers come from
};

using OnnxConstantPointer = std::shared_ptr<const OnnxConstant>;
using OnnxValue = std::variant<OnnxFlow, OnnxConstantPointer>;

}  // namespace mixcert::io
