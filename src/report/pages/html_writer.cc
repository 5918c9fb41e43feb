// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Writing of elements, and base64.
#include "report/pages/html_writer.h"

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "report/pages/html_text.h"

namespace mixcert::page {

HtmlWriter::HtmlWriter() : html_("<!DOCTYPE html>\n") {}

void HtmlWriter::write_tag(std::string_view tag, Attributes attributes) {
  html_ += '<';
  html_ += tag;
  for (const Attribute& attribute : attributes) {
    html_ += ' ';
    html_ += attribute.name;
    html_ += "=\"";
    html_ += escaped(attribute.value);
    html_ += '"';
  }
  html_ += '>';
}

void HtmlWriter::open(std::string_view tag, Attributes attributes) {
  write_tag(tag, attributes);
  open_.push_back(tag);
}

void HtmlWriter::close() {
  html_ += "</";
  html_ += open_.back();
  html_ += '>';
  open_.pop_back();
}

void HtmlWriter::text(std::string_view text) { html_ += escaped(text); }

void HtmlWriter::element(std::string_view tag, std::string_view text_inside, Attributes attributes) {
  open(tag, attributes);
  text(text_inside);
  close();
}

void HtmlWriter::foreign_element(std::string_view tag, std::string_view text_inside, Attributes attributes) {
  open(tag, attributes);
  element("bdi", printable(text_inside, kLongestForeignText));
  close();
}

void HtmlWriter::empty_element(std::string_view tag, Attributes attributes) { write_tag(tag, attributes); }

void HtmlWriter::asset(std::string_view tag, const Asset& asset) {
  open(tag);
  html_ += asset.text;
  close();
  line_break();
}

void HtmlWriter::json(const std::string& id, std::string_view json) {
  open("script", {{"type", "application/json"}, {"id", id}});
  html_ += json_for_script(json);
  close();
}

std::string HtmlWriter::take() {
  if (!open_.empty()) throw std::logic_error("HtmlWriter: an element is open");
  return std::move(html_);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t left = bytes.size() - at;
    unsigned block = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      block = (block << 8U) | (i < left ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= left ? kDigits[(block >> (18U - 6U * static_cast<unsigned>(i))) & 63U] : '=';
    }
  }
  return text;
}

std::string policy_hash(const Asset& asset) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < asset.sha256.size(); i += 2) {
    const std::string digits(asset.sha256.substr(i, 2));
    bytes += static_cast<char>(std::strtol(digits.c_str(), nullptr, 16));
  }
  return "'sha256-" + base64(bytes) + "'";
}

}  // namespace mixcert::page
