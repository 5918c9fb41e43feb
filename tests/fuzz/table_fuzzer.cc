// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fuzzes the readers of tables: rows as CSV, a zero byte, then the splits as JSON.
#include <algorithm>
#include <string_view>

#include "data/tables.h"
#include "fuzz/fuzz_target.h"
#include "io/formats/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return mixcert::fuzz::run(data, size, [&](std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t middle = std::min(text.find('\0'), text.size());
    const mixcert::Array table = mixcert::parse_csv(bytes.first(middle), "fuzz", mixcert::fuzz::kLimits);
    const std::string_view rest = text.substr(std::min(middle + 1, text.size()));
    for (const auto& split : mixcert::lab::parse_splits(rest, "fuzz", table.shape[0])) {
      mixcert::lab::split_table(table, split);
    }
  });
}
