// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fuzzes the readers of images: IDX, plain and compressed, and CIFAR batches.
#include <string>
#include <string_view>
#include <vector>

#include "data/contents.h"
#include "data/images.h"
#include "fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto run = [&](auto reader) { mixcert::fuzz::run(data, size, reader); };
  run([&](std::span<const std::byte>) { mixcert::lab::parse_idx(bytes, "fuzz"); });
  run([&](std::span<const std::byte>) {
    const std::string contents = mixcert::lab::gunzip(bytes, "fuzz", mixcert::fuzz::kLimits.max_bytes);
    mixcert::lab::parse_idx(contents, "fuzz");
  });
  run([&](std::span<const std::byte>) {
    std::vector<int> labels;
    std::string pixels;
    mixcert::lab::parse_cifar(bytes, "fuzz", 12, 10, labels, pixels);
  });
  return 0;
}
