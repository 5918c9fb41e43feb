// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fuzzes the reader of result archives up to the finished mixtures and the record of the run.
#include "fuzz/fuzz_target.h"
#include "mixcert/io/result_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return mixcert::fuzz::run(data, size, [](std::span<const std::byte> bytes) {
    mixcert::parse_run(bytes, "fuzz", mixcert::fuzz::kLimits);
  });
}
