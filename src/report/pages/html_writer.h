// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Elements of HTML. Text and values of attributes are escaped here; tags and names of attributes are literals
// of the caller. Nothing else can be written but the assets of the program itself.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "report/pages/page_assets.h"

namespace mixcert::page {

struct Attribute {
  std::string_view name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

class HtmlWriter {
 public:
  HtmlWriter();

  void open(std::string_view tag, Attributes attributes = {});
  /// Of the innermost open element.
  void close();
  void text(std::string_view text);
  /// open, text, close.
  void element(std::string_view tag, std::string_view text, Attributes attributes = {});
  /// The same around text of others: isolated, so that its direction stays its own.
  void foreign_element(std::string_view tag, std::string_view text, Attributes attributes = {});
  /// An element without contents: meta, img.
  void empty_element(std::string_view tag, Attributes attributes);
  /// Script or style of the program, as it is.
  void asset(std::string_view tag, const Asset& asset);
  /// Data for the script.
  void json(const std::string& id, std::string_view json);
  void line_break() { html_ += '\n'; }

  /// The page; all elements must be closed.
  [[nodiscard]] std::string take();

 private:
  void write_tag(std::string_view tag, Attributes attributes);

  std::string html_;
  std::vector<std::string_view> open_;
};

/// A hash as content security policies have it: 'sha256-BASE64'.
std::string policy_hash(const Asset& asset);
std::string base64(std::string_view bytes);

}  // namespace mixcert::page
