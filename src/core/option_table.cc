// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Text form of numbers in option tables.
#include "mixcert/core/option_table.h"

#include <array>

namespace mixcert {

std::string format_number(double value) {
  std::array<char, 32> text{};
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() ? std::string(text.data(), end) : std::string("?");
}

}  // namespace mixcert
