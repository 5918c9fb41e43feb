// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fuzzes the reader of .npy files, and what becomes of their values as inputs.
#include "fuzz/fuzz_target.h"
#include "io/formats/npy.h"
#include "mixcert/io/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return mixcert::fuzz::run(data, size, [](std::span<const std::byte> bytes) {
    mixcert::inputs_from_array(mixcert::parse_npy(bytes, "fuzz", mixcert::fuzz::kLimits), "fuzz");
  });
}
