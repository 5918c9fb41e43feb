// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Grammar:
//     statement  := clause { "and" clause }
//     clause     := "class" INDEX "beats" "class" INDEX  |  sum ORDER sum { ORDER sum }
//     sum        := [sign] term { sign term },    term := NUMBER [ "*" output ] | output [ "*" NUMBER ]
//     output     := "y" INDEX  |  "y[" INDEX "," INDEX "]"
// with blanks anywhere between. All comparisons of a clause point the same way.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "mixcert/answer/statement.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

constexpr std::size_t kLongestText = 1000;
constexpr double kLargestNumber = 1e100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// coefficients'y + constant.
struct LinearForm {
  Vector coefficients;
  double constant = 0.0;
};

class StatementParser {
 public:
  StatementParser(std::string_view text, const OutputShape& shape) : text_(text), shape_(shape) {}

  Statement parse() {
    do {
      parse_clause();
    } while (accept_word("and"));
    if (position_ != text_.size()) fail(position_, "a comparison, 'and' or the end");
    Statement statement{Matrix(static_cast<Index>(rows_.size()), dimension()),
                        Eigen::Map<const Vector>(thresholds_.data(), static_cast<Index>(thresholds_.size()))};
    for (std::size_t j = 0; j < rows_.size(); ++j)
      statement.rows.row(static_cast<Index>(j)) = rows_[j].transpose();
    return statement;
  }

 private:
  [[nodiscard]] Index dimension() const { return shape_.inputs * shape_.outputs; }

  [[noreturn]] void fail(std::size_t position, const std::string& expected) const {
    constexpr std::size_t kShown = 20;
    std::string rest(text_.substr(std::min(position, text_.size()), kShown));
    std::replace_if(
        rest.begin(), rest.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    throw InvalidArgument("statement: expected " + expected + " at character " +
                          std::to_string(position + 1) + ", got " +
                          (rest.empty() ? "the end of the text" : "'" + rest + "'"));
  }

  void skip_blanks() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
  }

  /// The next character, past blanks; 0 at the end.
  char peek() {
    skip_blanks();
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool accept(char symbol) {
    if (peek() != symbol) return false;
    ++position_;
    return true;
  }

  void expect(char symbol, const std::string& expected) {
    if (!accept(symbol)) fail(position_, expected);
  }

  bool accept_word(std::string_view word) {
    skip_blanks();
    const std::size_t end = position_ + word.size();
    if (text_.substr(position_, word.size()) != word) return false;
    if (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) return false;
    position_ = end;
    return true;
  }

  Index parse_index(Index count, const std::string& what) {
    skip_blanks();
    const std::size_t start = position_;
    Index value = 0;
    const char* const end = text_.data() + text_.size();
    const auto read = std::from_chars(text_.data() + start, end, value);
    if (!is_digit(peek()) || read.ec != std::errc() || value >= count) {
      fail(start, what + " in 0.." + std::to_string(count - 1));
    }
    position_ = static_cast<std::size_t>(read.ptr - text_.data());
    return value;
  }

  double parse_number() {
    skip_blanks();
    const std::size_t start = position_;
    double value = 0.0;
    const auto read = std::from_chars(text_.data() + start, text_.data() + text_.size(), value);
    if (read.ec != std::errc() || !(std::abs(value) <= kLargestNumber)) fail(start, "a number up to 1e100");
    position_ = static_cast<std::size_t>(read.ptr - text_.data());
    return value;
  }

  Index parse_output() {
    if (!accept('y')) fail(position_, "an output such as y0");
    if (!accept('[')) return parse_index(dimension(), "an output");
    const Index input = parse_index(shape_.inputs, "an input");
    expect(',', "','");
    const Index output = parse_index(shape_.outputs, "an output");
    expect(']', "']'");
    return input * shape_.outputs + output;
  }

  void parse_term(LinearForm& form, double sign) {
    const char next = peek();
    if (next == 'y') {
      const Index output = parse_output();
      form.coefficients(output) += accept('*') ? sign * parse_number() : sign;
      return;
    }
    if (!is_digit(next) && next != '.') fail(position_, "a number or an output such as y0");
    const double number = sign * parse_number();
    if (accept('*')) {
      form.coefficients(parse_output()) += number;
    } else {
      form.constant += number;
    }
  }

  LinearForm parse_sum() {
    LinearForm form{Vector::Zero(dimension())};
    double sign = accept('-') ? -1.0 : (accept('+'), 1.0);
    while (true) {
      parse_term(form, sign);
      if (peek() != '+' && peek() != '-') return form;
      sign = accept('-') ? -1.0 : (accept('+'), 1.0);
    }
  }

  /// Past '<' or '>' and an '=' that follows at once.
  void read_order() {
    ++position_;
    if (position_ < text_.size() && text_[position_] == '=') ++position_;
  }

  /// `greater` > `smaller`.
  void add_row(const LinearForm& greater, const LinearForm& smaller, std::size_t start) {
    Vector row = greater.coefficients - smaller.coefficients;
    if (row.isZero(0.0)) fail(start, "a comparison that depends on an output");
    rows_.push_back(std::move(row));
    thresholds_.push_back(smaller.constant - greater.constant);
  }

  void parse_comparisons() {
    skip_blanks();
    const std::size_t start = position_;
    LinearForm left = parse_sum();
    const char direction = peek();
    if (direction != '<' && direction != '>') fail(position_, "'<', '<=', '>' or '>='");
    while (peek() == '<' || peek() == '>') {
      if (peek() != direction) fail(position_, std::string("'") + direction + "' as before");
      read_order();
      LinearForm right = parse_sum();
      if (direction == '>') add_row(left, right, start);
      if (direction == '<') add_row(right, left, start);
      left = std::move(right);
    }
  }

  void parse_clause() {
    if (!accept_word("class")) return parse_comparisons();
    if (shape_.inputs != 1) fail(position_, "y[input,output] for a law of several inputs, not classes");
    const std::size_t start = position_;
    LinearForm winner{Vector::Unit(dimension(), parse_index(shape_.outputs, "a class"))};
    if (!accept_word("beats")) fail(position_, "'beats'");
    if (!accept_word("class")) fail(position_, "'class'");
    add_row(winner, {Vector::Unit(dimension(), parse_index(shape_.outputs, "a class"))}, start);
  }

  std::string_view text_;
  OutputShape shape_;
  std::size_t position_ = 0;
  std::vector<Vector> rows_;
  std::vector<double> thresholds_;
};

}  // namespace

Statement parse_statement(std::string_view text, const OutputShape& shape) {
  require(shape.inputs > 0 && shape.outputs > 0, "statement: expected a law with outputs");
  require(text.size() <= kLongestText, "statement: expected a text of at most " +
                                           std::to_string(kLongestText) + " characters, got " +
                                           std::to_string(text.size()));
  return StatementParser(text, shape).parse();
}

}  // namespace mixcert
