// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Text from outside (names, labels, command lines) made safe to show. Every string of a page goes through
// here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mixcert::page {

/// Characters shown of a string from outside.
inline constexpr std::size_t kLongestForeignText = 2000;

/// Valid UTF-8 that shows what is in `text`: control characters and bytes that are no UTF-8 become U+FFFD,
/// characters that change the direction of what follows become "[U+202E]", and what is beyond `longest`
/// characters is counted, not shown.
std::string printable(std::string_view text, std::size_t longest = std::string_view::npos);

/// printable() with the five characters that mean something in HTML written as references; for text between
/// tags and for attributes in double quotes.
std::string escaped(std::string_view text);

/// JSON that may stand inside a script element: without '<', '>' and '&', which occur only within its
/// strings.
std::string json_for_script(std::string_view json);

}  // namespace mixcert::page
