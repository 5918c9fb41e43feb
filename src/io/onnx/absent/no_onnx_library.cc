// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// In place of the folder protobuf, where the build found no libonnx.
#include "io/onnx/onnx_model.h"
#include "mixcert/core/error.h"

namespace mixcert::io {

bool has_onnx_library() { return false; }

OnnxModel read_onnx_model(std::span<const std::byte> /*bytes*/, const std::string& label,
                          const ReadLimits& /*limits*/) {
  throw FileError(
      label +
      ": this build reads no ONNX models; install libonnx-dev and libprotobuf-dev and build again "
      "with -DMIXCERT_WITH_ONNX=ON");
}

}  // namespace mixcert::io
