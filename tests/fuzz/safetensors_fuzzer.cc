// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fuzzes the reader of safetensors files, every tensor of them.
#include "fuzz/fuzz_target.h"
#include "io/formats/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return mixcert::fuzz::run(data, size, [](std::span<const std::byte> bytes) {
    const mixcert::SafetensorsReader reader(bytes, "fuzz", mixcert::fuzz::kLimits);
    for (const auto& [name, info] : reader.tensors()) (void)reader.read(name);
  });
}
