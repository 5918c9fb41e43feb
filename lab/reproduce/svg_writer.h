// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Elements of SVG. Text and values of attributes are escaped here; tags and names of attributes are literals
// of the caller, so that what is written is well-formed whatever the strings say.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace mixcert::lab {

struct SvgAttribute {
  SvgAttribute(std::string_view attribute, std::string_view text) : name(attribute), value(text) {}
  SvgAttribute(std::string_view attribute, const std::string& text) : name(attribute), value(text) {}
  SvgAttribute(std::string_view attribute, const char* text) : name(attribute), value(text) {}
  /// Two decimals: finer than a pixel, and the same text everywhere.
  SvgAttribute(std::string_view attribute, double number);

  std::string_view name;
  std::string value;
};
using SvgAttributes = std::initializer_list<SvgAttribute>;

class SvgWriter {
 public:
  /// `style` is CSS of the program itself; `description` is read to those who do not see the picture.
  SvgWriter(double width, double height, std::string_view style, std::string_view description);

  void open(std::string_view tag, SvgAttributes attributes);
  /// Of the innermost open element.
  void close();
  /// An element without contents.
  void element(std::string_view tag, SvgAttributes attributes);
  void text(double x, double y, std::string_view text, SvgAttributes attributes = {});
  /// The file; all elements must be closed.
  [[nodiscard]] std::string take();

 private:
  void write_tag(std::string_view tag, SvgAttributes attributes);

  std::string svg_;
  std::vector<std::string_view> open_;
};

/// A coordinate as the writer has it.
std::string svg_number(double value);

}  // namespace mixcert::lab
