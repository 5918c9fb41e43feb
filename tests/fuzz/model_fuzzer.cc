// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fuzzes the reader of model files up to the finished networks.
#include "fuzz/fuzz_target.h"
#include "mixcert/io/model_file.h"
#include "mixcert/network/network_builder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return mixcert::fuzz::run(data, size, [](std::span<const std::byte> bytes) {
    const auto layers = mixcert::parse_layers(bytes, "fuzz", mixcert::fuzz::kLimits);
    mixcert::build_ensemble(layers, {}, {mixcert::fuzz::kLimits.max_bytes, 64});
  });
}
