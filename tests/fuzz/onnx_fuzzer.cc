// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fuzzes the reader of ONNX models and the walk through their nodes, with and without deviations.
#include "fuzz/fuzz_target.h"
#include "mixcert/io/onnx_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return mixcert::fuzz::run(data, size, [](std::span<const std::byte> bytes) {
    (void)mixcert::parse_onnx(bytes, "fuzz", {}, mixcert::fuzz::kLimits);
    const mixcert::NamedArrays deviations{{{"w", {{2, 2}, {1, 2, 3, 4}}}}};
    (void)mixcert::parse_onnx(bytes, "fuzz", deviations, mixcert::fuzz::kLimits);
  });
}
