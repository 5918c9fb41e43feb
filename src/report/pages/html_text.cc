// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A strict decoder of UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF), and what may be
// shown.
#include "report/pages/html_text.h"

#include <fmt/format.h>

#include <cstdint>

namespace mixcert::page {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;
constexpr std::string_view kReplacementBytes = "\xEF\xBF\xBD";

struct Character {
  std::uint32_t code = kReplacement;
  std::size_t bytes = 1;
  bool valid = false;
};

std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80U) return 1;
  if (lead >= 0xC2U && lead < 0xE0U) return 2;
  if (lead >= 0xE0U && lead < 0xF0U) return 3;
  if (lead >= 0xF0U && lead < 0xF5U) return 4;
  return 0;
}

/// The character that begins at `at`; one invalid byte where none does.
Character decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = sequence_length(byte(at));
  if (length == 0 || at + length > text.size()) return {};
  if (length == 1) return {byte(at), 1, true};
  std::uint32_t code = byte(at) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (byte(at + i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800U) || (length == 4 && code < 0x10000U);
  const bool surrogate = code >= 0xD800U && code < 0xE000U;
  if (overlong || surrogate || code > 0x10FFFFU) return {};
  return {code, length, true};
}

/// Marks, embeddings, overrides and isolates: they would reorder what stands beside them.
bool changes_direction(std::uint32_t code) {
  return code == 0x061CU || code == 0x200EU || code == 0x200FU || (code >= 0x202AU && code <= 0x202EU) ||
         (code >= 0x2066U && code <= 0x2069U);
}

bool is_control(std::uint32_t code) {
  if (code == '\n' || code == '\t') return false;
  // Line and paragraph separators end lines in scripts; U+FFFE and U+FFFF are no characters.
  return code < 0x20U || (code >= 0x7FU && code < 0xA0U) || code == 0x2028U || code == 0x2029U ||
         (code & 0xFFFEU) == 0xFFFEU;
}

}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
  std::string shown;
  shown.reserve(text.size());
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    if (count == longest) return shown + fmt::format(" [and {} more bytes]", text.size() - at);
    const Character character = decode(text, at);
    if (!character.valid || is_control(character.code)) {
      shown += kReplacementBytes;
    } else if (changes_direction(character.code)) {
      shown += fmt::format("[U+{:04X}]", character.code);
    } else {
      shown += text.substr(at, character.bytes);
    }
    at += character.bytes;
  }
  return shown;
}

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string json_for_script(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '&':
        text += "\\u0026";
        break;
      case '<':
        text += "\\u003c";
        break;
      case '>':
        text += "\\u003e";
        break;
      default:
        text += c;
    }
  }
  return text;
}

}  // namespace mixcert::page
