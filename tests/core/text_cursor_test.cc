// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The cursor that parsers of short texts share: blanks, symbols, words, numbers, and errors with their place.
#include "core/text_cursor.h"

#include <gtest/gtest.h>

#include "mixcert/core/error.h"
#include "mixcert/core/types.h"

namespace mixcert::testing {
namespace text_cursor_test {

template <class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TextCursor, ReadsSymbolsWordsAndNumbers) {
  TextCursor cursor("  rbf ( 1.5e1 , -3) and rest", {"text"});
  EXPECT_EQ(cursor.word(), "rbf");
  EXPECT_EQ(cursor.position(), 5U);  // blanks behind a word stay
  EXPECT_FALSE(cursor.accept(')'));
  EXPECT_TRUE(cursor.accept('('));
  EXPECT_EQ(cursor.position(), 8U);  // those behind a symbol do not
  EXPECT_EQ(cursor.accept_number<double>(), 15.0);
  cursor.expect(',', "','");
  EXPECT_EQ(cursor.accept_number<Index>(), -3);
  EXPECT_EQ(cursor.accept_number<Index>(), std::nullopt);
  EXPECT_TRUE(cursor.accept(')'));
  EXPECT_FALSE(cursor.accept_word("an"));
  EXPECT_TRUE(cursor.accept_word("and"));
  EXPECT_EQ(cursor.peek(), 'r');
  EXPECT_EQ(cursor.rest(), "rest");
  cursor.skip(4);
  EXPECT_EQ(cursor.peek(), '\0');
  EXPECT_EQ(cursor.word(), "");
  cursor.expect_end("the end");
}

TEST(TextCursor, NumbersThatTheTypeCannotHoldAreNone) {
  EXPECT_EQ(TextCursor("1e999", {"text"}).accept_number<double>(), std::nullopt);
  EXPECT_EQ(TextCursor("99999999999999999999", {"text"}).accept_number<Index>(), std::nullopt);
  EXPECT_EQ(TextCursor("", {"text"}).accept_number<double>(), std::nullopt);
}

TEST(TextCursor, ErrorsSayWhereAndWhat) {
  const auto expects = [](std::string_view text, const TextRules& rules) {
    return message_of([&] { TextCursor(text, rules).expect(';', "';'"); });
  };
  EXPECT_EQ(expects("  x\ty", {"text"}), "text: expected ';' at character 3, got 'x?y'");
  EXPECT_EQ(expects("x0123456789012345678901234", {"text"}),
            "text: expected ';' at character 1, got 'x0123456789012345678'");
  EXPECT_EQ(expects(" ", {"text"}), "text: expected ';' at character 2, got the end of the text");
  EXPECT_EQ(expects("1234", {"text", 3}), "text: expected a text of at most 3 characters, got 4");
  EXPECT_EQ(message_of([] { TextCursor("a b", {"text"}).expect_end("nothing"); }),
            "text: expected nothing at character 1, got 'a b'");
}

TEST(TextCursor, BlanksAreWhatTheRulesSay) {
  EXPECT_TRUE(TextCursor("\n;", {"text"}).accept(';'));
  EXPECT_FALSE(TextCursor("\n;", {"text", 10, " \t"}).accept(';'));
}

}  // namespace text_cursor_test
}  // namespace mixcert::testing
