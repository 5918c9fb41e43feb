// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From an ONNX model in memory to layers.
#pragma once

#include "io/onnx/onnx_model.h"
#include "mixcert/io/onnx_file.h"

namespace mixcert::io {

/// See import_onnx().
ImportedModel onnx_layers(OnnxModel model, const NamedArrays& deviations, const ReadLimits& limits);

}  // namespace mixcert::io
