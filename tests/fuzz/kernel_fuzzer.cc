// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fuzzes the text of kernels and mean functions. What is accepted must be written as text that is read back
// as the same, and must have finite variances or say why not.
#include <cstdlib>

#include "fuzz/fuzz_target.h"
#include "mixcert/gp/gaussian_process.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text_of = [](std::span<const std::byte> bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  mixcert::fuzz::run(data, size, [&](std::span<const std::byte> bytes) {
    const std::string text = mixcert::MeanFunction::parse(text_of(bytes)).text();
    if (mixcert::MeanFunction::parse(text).text() != text) std::abort();
  });
  return mixcert::fuzz::run(data, size, [&](std::span<const std::byte> bytes) {
    const mixcert::Kernel kernel = mixcert::Kernel::parse(text_of(bytes));
    if (mixcert::Kernel::parse(kernel.text()).text() != kernel.text()) std::abort();
    (void)kernel.variances(mixcert::Matrix::Ones(2, 2));
  });
}
