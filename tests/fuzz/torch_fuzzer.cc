// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fuzzes the reader of PyTorch checkpoints. An input that is no archive is taken as the pickle alone, so that
// the fuzzer need not learn checksums of zip files.
#include <string_view>

#include "fuzz/fuzz_target.h"
#include "io/formats/torch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return mixcert::fuzz::run(data, size, [](std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.starts_with("PK")) {
      (void)mixcert::parse_torch_file(bytes, "fuzz", mixcert::fuzz::kLimits);
    } else {
      (void)mixcert::io::Pickle(text, "fuzz");
    }
  });
}
