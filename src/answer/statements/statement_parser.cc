// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Grammar:
//     statement  := clause { "and" clause }
//     clause     := "class" INDEX "beats" "class" INDEX  |  sum ORDER sum { ORDER sum }
//     sum        := [sign] term { sign term },    term := NUMBER [ "*" output ] | output [ "*" NUMBER ]
//     output     := "y" INDEX  |  "y[" INDEX "," INDEX "]"
// with blanks anywhere between. All comparisons of a clause point the same way. A functional is a sum.
#include <cmath>
#include <string>
#include <vector>

#include "core/text_cursor.h"
#include "mixcert/answer/statement.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

constexpr std::size_t kLongestText = 1000;
constexpr double kLargestNumber = 1e100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// coefficients'y + constant.
struct LinearForm {
  Vector coefficients;
  double constant = 0.0;
};

class StatementParser {
 public:
  StatementParser(std::string_view text, const OutputShape& shape)
      : StatementParser(text, shape, "statement") {}
  StatementParser(std::string_view text, const OutputShape& shape, const char* what)
      : cursor_(text, {what, kLongestText, " \t"}), shape_(shape) {}

  Statement parse() {
    do {
      parse_clause();
    } while (cursor_.accept_word("and"));
    cursor_.expect_end("a comparison, 'and' or the end");
    Statement statement{Matrix(static_cast<Index>(rows_.size()), dimension()),
                        Eigen::Map<const Vector>(thresholds_.data(), static_cast<Index>(thresholds_.size()))};
    for (std::size_t j = 0; j < rows_.size(); ++j)
      statement.rows.row(static_cast<Index>(j)) = rows_[j].transpose();
    return statement;
  }

  /// A sum of outputs alone.
  Vector parse_functional() {
    cursor_.peek();
    const std::size_t start = cursor_.position();
    const LinearForm form = parse_sum();
    cursor_.expect_end("'+', '-' or the end");
    if (form.constant != 0.0 || form.coefficients.isZero(0.0))
      cursor_.fail(start, "a sum of outputs such as y0 - y3");
    return form.coefficients;
  }

 private:
  [[nodiscard]] Index dimension() const { return shape_.inputs * shape_.outputs; }

  Index parse_index(Index count, const std::string& what) {
    const bool is_number = is_digit(cursor_.peek());
    const std::size_t start = cursor_.position();
    const auto value = cursor_.accept_number<Index>();
    if (!is_number || !value || *value >= count) {
      cursor_.fail(start, what + " in 0.." + std::to_string(count - 1));
    }
    return *value;
  }

  double parse_number() {
    cursor_.peek();
    const std::size_t start = cursor_.position();
    const auto value = cursor_.accept_number<double>();
    if (!value || !(std::abs(*value) <= kLargestNumber)) cursor_.fail(start, "a number up to 1e100");
    return *value;
  }

  Index parse_output() {
    if (!cursor_.accept('y')) cursor_.fail("an output such as y0");
    if (!cursor_.accept('[')) return parse_index(dimension(), "an output");
    const Index input = parse_index(shape_.inputs, "an input");
    cursor_.expect(',', "','");
    const Index output = parse_index(shape_.outputs, "an output");
    cursor_.expect(']', "']'");
    return input * shape_.outputs + output;
  }

  void parse_term(LinearForm& form, double sign) {
    const char next = cursor_.peek();
    if (next == 'y') {
      const Index output = parse_output();
      form.coefficients(output) += cursor_.accept('*') ? sign * parse_number() : sign;
      return;
    }
    if (!is_digit(next) && next != '.') cursor_.fail("a number or an output such as y0");
    const double number = sign * parse_number();
    if (cursor_.accept('*')) {
      form.coefficients(parse_output()) += number;
    } else {
      form.constant += number;
    }
  }

  LinearForm parse_sum() {
    LinearForm form{Vector::Zero(dimension())};
    double sign = cursor_.accept('-') ? -1.0 : (cursor_.accept('+'), 1.0);
    while (true) {
      parse_term(form, sign);
      if (cursor_.peek() != '+' && cursor_.peek() != '-') return form;
      sign = cursor_.accept('-') ? -1.0 : (cursor_.accept('+'), 1.0);
    }
  }

  /// Past '<' or '>' and an '=' that follows at once.
  void read_order() { cursor_.skip(cursor_.rest().substr(1, 1) == "=" ? 2 : 1); }

  /// `greater` > `smaller`.
  void add_row(const LinearForm& greater, const LinearForm& smaller, std::size_t start) {
    Vector row = greater.coefficients - smaller.coefficients;
    if (row.isZero(0.0)) cursor_.fail(start, "a comparison that depends on an output");
    rows_.push_back(std::move(row));
    thresholds_.push_back(smaller.constant - greater.constant);
  }

  void parse_comparisons() {
    cursor_.peek();
    const std::size_t start = cursor_.position();
    LinearForm left = parse_sum();
    const char direction = cursor_.peek();
    if (direction != '<' && direction != '>') cursor_.fail("'<', '<=', '>' or '>='");
    while (cursor_.peek() == '<' || cursor_.peek() == '>') {
      if (cursor_.peek() != direction) cursor_.fail(std::string("'") + direction + "' as before");
      read_order();
      LinearForm right = parse_sum();
      if (direction == '>') add_row(left, right, start);
      if (direction == '<') add_row(right, left, start);
      left = std::move(right);
    }
  }

  void parse_clause() {
    if (!cursor_.accept_word("class")) return parse_comparisons();
    if (shape_.inputs != 1) cursor_.fail("y[input,output] for a law of several inputs, not classes");
    const std::size_t start = cursor_.position();
    LinearForm winner{Vector::Unit(dimension(), parse_index(shape_.outputs, "a class"))};
    if (!cursor_.accept_word("beats")) cursor_.fail("'beats'");
    if (!cursor_.accept_word("class")) cursor_.fail("'class'");
    add_row(winner, {Vector::Unit(dimension(), parse_index(shape_.outputs, "a class"))}, start);
  }

  TextCursor cursor_;
  OutputShape shape_;
  std::vector<Vector> rows_;
  std::vector<double> thresholds_;
};

}  // namespace

Statement parse_statement(std::string_view text, const OutputShape& shape) {
  require(shape.inputs > 0 && shape.outputs > 0, "statement: expected a law with outputs");
  return StatementParser(text, shape).parse();
}

Vector parse_functional(std::string_view text, Index outputs) {
  require(outputs > 0, "functional: expected a network with outputs");
  return StatementParser(text, {outputs, 1}, "functional").parse_functional();
}

}  // namespace mixcert
