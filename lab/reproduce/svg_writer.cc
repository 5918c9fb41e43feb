// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Well-formed XML with one root.
#include "reproduce/svg_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "mixcert/core/error.h"
#include "report/pages/html_text.h"

namespace mixcert::lab {

std::string svg_number(double value) {
  require(std::isfinite(value), "a coordinate of a drawing: expected a finite number, got another one");
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

SvgAttribute::SvgAttribute(std::string_view attribute, double number)
    : name(attribute), value(svg_number(number)) {}

SvgWriter::SvgWriter(double width, double height, std::string_view style, std::string_view description) {
  open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
               {"width", width},
               {"height", height},
               {"viewBox", "0 0 " + svg_number(width) + " " + svg_number(height)},
               {"role", "img"}});
  svg_ += "\n<title>" + page::escaped(description) + "</title>\n<style>" + std::string(style) + "</style>\n";
}

void SvgWriter::write_tag(std::string_view tag, SvgAttributes attributes) {
  svg_ += '<';
  svg_ += tag;
  for (const SvgAttribute& attribute : attributes) {
    svg_ += fmt::format(" {}=\"{}\"", attribute.name, page::escaped(attribute.value));
  }
}

void SvgWriter::open(std::string_view tag, SvgAttributes attributes) {
  write_tag(tag, attributes);
  svg_ += '>';
  open_.push_back(tag);
}

void SvgWriter::close() {
  require(!open_.empty(), "SVG: expected an open element to close, got none");
  svg_ += fmt::format("</{}>\n", open_.back());
  open_.pop_back();
}

void SvgWriter::element(std::string_view tag, SvgAttributes attributes) {
  write_tag(tag, attributes);
  svg_ += "/>\n";
}

void SvgWriter::text(double x, double y, std::string_view text, SvgAttributes attributes) {
  svg_ += fmt::format("<text x=\"{}\" y=\"{}\"", svg_number(x), svg_number(y));
  for (const SvgAttribute& attribute : attributes) {
    svg_ += fmt::format(" {}=\"{}\"", attribute.name, page::escaped(attribute.value));
  }
  svg_ += ">" + page::escaped(text) + "</text>\n";
}

std::string SvgWriter::take() {
  require(open_.size() == 1, "SVG: expected all elements closed but the root, got others");
  close();
  return std::move(svg_);
}

}  // namespace mixcert::lab
