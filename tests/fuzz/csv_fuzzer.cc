// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fuzzes the reader of CSV files.
#include "fuzz/fuzz_target.h"
#include "io/formats/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return mixcert::fuzz::run(data, size, [](std::span<const std::byte> bytes) {
    mixcert::parse_csv(bytes, "fuzz", mixcert::fuzz::kLimits);
  });
}
