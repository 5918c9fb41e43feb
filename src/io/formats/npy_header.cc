// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The header of a .npy file: the small part of Python's literal syntax that NumPy writes.
#include <array>
#include <utility>

#include "core/text_cursor.h"
#include "io/files/file_error.h"
#include "io/formats/npy.h"

namespace mixcert::io {
namespace {

constexpr std::size_t kMaxNpyRank = 8;
constexpr std::string_view kTypes = "one of <f4 <f8 >f4 >f8 <i4 <i8 |u1 |b1";

ElementType parse_type(const std::string& text, const std::string& file) {
  static const std::array<std::pair<std::string_view, ElementType>, 8> kKnown = {{
      {"<f4", {ElementKind::Float32, false}},
      {"<f8", {ElementKind::Float64, false}},
      {">f4", {ElementKind::Float32, true}},
      {">f8", {ElementKind::Float64, true}},
      {"<i4", {ElementKind::Int32, false}},
      {"<i8", {ElementKind::Int64, false}},
      {"|u1", {ElementKind::UInt8, false}},
      {"|b1", {ElementKind::Bool, false}},
  }};
  for (const auto& [name, type] : kKnown) {
    if (name == text) return type;
  }
  bad_file(file, "npy header 'descr'", std::string(kTypes), in_quotes(text));
}

class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& file)
      : text_(text), cursor_(text, {"npy header"}), file_(file) {}

  NpyHeader parse() {
    NpyHeader header;
    expect('{');
    while (!cursor_.accept('}')) {
      parse_entry(header);
      if (cursor_.accept(',')) continue;
      expect('}');
      break;
    }
    cursor_.peek();
    if (!cursor_.rest().empty()) fail("nothing after '}'");
    if (!seen_type_ || !seen_order_ || !seen_shape_) fail("keys descr, fortran_order and shape");
    return header;
  }

 private:
  void parse_entry(NpyHeader& header) {
    const std::string key = string();
    expect(':');
    if (key == "descr" && !std::exchange(seen_type_, true)) {
      header.type = parse_type(string(), file_);
    } else if (key == "fortran_order" && !std::exchange(seen_order_, true)) {
      header.fortran_order = boolean();
    } else if (key == "shape" && !std::exchange(seen_shape_, true)) {
      header.shape = tuple();
    } else {
      fail("each of the keys descr, fortran_order and shape once");
    }
  }

  std::string string() {
    const char quote = cursor_.peek();
    if (quote != '\'' && quote != '"') {
      fail("a quoted string at byte " + std::to_string(cursor_.position()));
    }
    const std::size_t end = cursor_.rest().find(quote, 1);
    if (end == std::string_view::npos) fail("a closing quote");
    std::string result(cursor_.rest().substr(1, end - 1));
    cursor_.skip(end + 1);
    return result;
  }

  bool boolean() {
    cursor_.peek();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (!cursor_.rest().starts_with(word)) continue;
      cursor_.skip(word.size());
      return value;
    }
    fail("True or False for fortran_order");
  }

  std::vector<Index> tuple() {
    std::vector<Index> shape;
    expect('(');
    while (!cursor_.accept(')')) {
      shape.push_back(number());
      if (shape.size() > kMaxNpyRank) fail("a rank of at most " + std::to_string(kMaxNpyRank));
      if (cursor_.accept(',')) continue;
      expect(')');
      break;
    }
    return shape;
  }

  Index number() {
    const auto value = cursor_.accept_number<Index>();
    if (!value || *value < 0) fail("sizes in 0..2^63-1 for shape");
    return *value;
  }

  void expect(char c) {
    if (!cursor_.accept(c)) fail(std::string("'") + c + "' at byte " + std::to_string(cursor_.position()));
  }
  [[noreturn]] void fail(const std::string& expected) const {
    bad_file(file_, "npy header", expected, in_quotes(text_));
  }

  std::string_view text_;
  TextCursor cursor_;
  const std::string& file_;
  bool seen_type_ = false;
  bool seen_order_ = false;
  bool seen_shape_ = false;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& file) {
  return HeaderParser(text, file).parse();
}

std::string npy_preamble(const std::vector<Index>& shape, const std::string& type) {
  std::string tuple = "(";
  for (const Index size : shape) tuple += std::to_string(size) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) tuple.resize(tuple.size() - 2);
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + tuple + "), }";
  constexpr std::size_t kPrefix = 10;
  const std::size_t total = (kPrefix + header.size() + 1 + 63) / 64 * 64;
  header.append(total - kPrefix - header.size() - 1, ' ');
  header += '\n';
  std::string preamble("\x93NUMPY\x01\x00", 8);
  preamble += static_cast<char>(header.size() & 0xFFU);
  preamble += static_cast<char>(header.size() >> 8U);
  return preamble + header;
}

}  // namespace mixcert::io
