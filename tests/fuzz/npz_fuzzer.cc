// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fuzzes the reader of .npz archives.
#include "fuzz/fuzz_target.h"
#include "io/formats/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return mixcert::fuzz::run(data, size, [](std::span<const std::byte> bytes) {
    mixcert::NpzReader reader(bytes, "fuzz", mixcert::fuzz::kLimits);
    for (const std::string& name : reader.names()) reader.read(name);
  });
}
