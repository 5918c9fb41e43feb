// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Blanks, symbols and words of a text, and errors with their place in it.
#include "core/text_cursor.h"

#include <algorithm>

#include "mixcert/core/error.h"

namespace mixcert {
namespace {

bool is_word_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

TextCursor::TextCursor(std::string_view text, const TextRules& rules) : text_(text), rules_(rules) {
  require(text.size() <= rules.longest, std::string(rules.what) + ": expected a text of at most " +
                                            std::to_string(rules.longest) + " characters, got " +
                                            std::to_string(text.size()));
}

char TextCursor::peek() {
  while (position_ < text_.size() && rules_.blanks.find(text_[position_]) != std::string_view::npos)
    ++position_;
  return position_ < text_.size() ? text_[position_] : '\0';
}

bool TextCursor::accept(char symbol) {
  if (peek() != symbol || position_ == text_.size()) return false;
  ++position_;
  peek();
  return true;
}

void TextCursor::expect(char symbol, const std::string& expected) {
  if (!accept(symbol)) fail(expected);
}

void TextCursor::expect_end(const std::string& expected) {
  peek();
  if (position_ != text_.size()) fail(expected);
}

std::string_view TextCursor::word() { return take_while(is_word_part); }

bool TextCursor::accept_word(std::string_view expected) {
  peek();
  const std::size_t start = position_;
  if (word() == expected) return true;
  position_ = start;
  return false;
}

void TextCursor::fail(std::size_t position, const std::string& expected) const {
  constexpr std::size_t kShown = 20;
  std::string rest(text_.substr(std::min(position, text_.size()), kShown));
  std::replace_if(
      rest.begin(), rest.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  throw InvalidArgument(std::string(rules_.what) + ": expected " + expected + " at character " +
                        std::to_string(position + 1) + ", got " +
                        (rest.empty() ? "the end of the text" : "'" + rest + "'"));
}

}  // namespace mixcert
