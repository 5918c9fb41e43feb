// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A position in a text that moves forward: what the parsers of kernels, mean functions, statements and
// headers of arrays share. What the text means is theirs.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace mixcert {

struct TextRules {
  std::string_view what;                         ///< the text's name in errors: "kernel", "statement"
  std::size_t longest = std::string_view::npos;  ///< a longer text is refused
  std::string_view blanks = " \t\n\r";           ///< what may stand between words
};

/// A symbol takes the blanks on both its sides along; everything else those in front of it.
class TextCursor {
 public:
  /// The text must outlive this. Throws InvalidArgument where it is too long.
  TextCursor(std::string_view text, const TextRules& rules);

  /// The next character that is no blank; 0 at the end.
  char peek();
  /// Past the symbol, if it is next.
  bool accept(char symbol);
  /// The same, but anything else is an error.
  void expect(char symbol, const std::string& expected);
  void expect_end(const std::string& expected);
  /// Letters, digits and underscores; empty when there are none.
  std::string_view word();
  /// Past this word, if it is next as a whole.
  bool accept_word(std::string_view expected);
  /// The longest prefix that is a number; nothing, and nowhere, where there is none or T cannot hold it.
  template <class T>
  std::optional<T> accept_number();
  template <class Predicate>
  std::string_view take_while(const Predicate& belongs);

  /// What is left, blanks too.
  [[nodiscard]] std::string_view rest() const { return text_.substr(position_); }
  void skip(std::size_t count) { position_ += count; }
  [[nodiscard]] std::size_t position() const { return position_; }
  /// Throws InvalidArgument with the place, counted from 1, and what stands there.
  [[noreturn]] void fail(std::size_t position, const std::string& expected) const;
  /// The same, here.
  [[noreturn]] void fail(const std::string& expected) const { fail(position_, expected); }

 private:
  std::string_view text_;
  TextRules rules_;
  std::size_t position_ = 0;
};

template <class T>
std::optional<T> TextCursor::accept_number() {
  peek();
  const std::string_view left = rest();
  T value{};
  const auto [end, status] = std::from_chars(left.data(), left.data() + left.size(), value);
  if (status != std::errc()) return std::nullopt;
  skip(static_cast<std::size_t>(end - left.data()));
  return value;
}

template <class Predicate>
std::string_view TextCursor::take_while(const Predicate& belongs) {
  peek();
  const std::size_t start = position_;
  while (position_ < text_.size() && belongs(text_[position_])) ++position_;
  return text_.substr(start, position_ - start);
}

}  // namespace mixcert
