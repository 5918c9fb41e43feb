// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A reader of HTML that is stricter than browsers, written from the rules of the format and not from our
// writer: every element is closed where it was opened, attributes are quoted, references are known.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mixcert::testing {

struct HtmlTag {
  std::string name;
  std::map<std::string, std::string> attributes;
};

/// What a browser would make of the page: tags in their order, and all text outside scripts and styles.
struct HtmlReading {
  std::vector<HtmlTag> tags;
  std::string text;
  std::vector<std::string> scripts;  ///< contents of script elements
  std::string error;                 ///< "" where the page is well-formed

  [[nodiscard]] std::size_t count(const std::string& name) const {
    std::size_t number = 0;
    for (const HtmlTag& tag : tags) number += tag.name == name ? 1 : 0;
    return number;
  }
};

class HtmlReader {
 public:
  explicit HtmlReader(std::string_view html) : html_(html) {}

  HtmlReading read() {
    if (!skip("<!DOCTYPE html>")) return fail("no doctype");
    while (reading_.error.empty() && at_ < html_.size()) {
      if (html_[at_] == '<') {
        read_tag();
      } else {
        read_text();
      }
    }
    if (reading_.error.empty() && !open_.empty()) return fail("open at the end: " + open_.back());
    return reading_;
  }

 private:
  HtmlReading fail(const std::string& why) {
    if (reading_.error.empty()) reading_.error = why + " at " + std::to_string(at_);
    return reading_;
  }
  bool skip(std::string_view word) {
    if (html_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  }
  std::string name() {
    std::string word;
    while (at_ < html_.size() && is_name(html_[at_])) word += html_[at_++];
    if (word.empty()) fail("a name was expected");
    return word;
  }

  /// One character of text or of a value; only the five references that the writer may use are known.
  std::string character() {
    static const std::map<std::string_view, std::string> kReferences = {
        {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}};
    if (html_[at_] != '&') return std::string(1, html_[at_++]);
    for (const auto& [written, meant] : kReferences) {
      if (skip(written)) return meant;
    }
    fail("unknown reference");
    ++at_;
    return "";
  }

  void read_text() {
    while (at_ < html_.size() && html_[at_] != '<' && reading_.error.empty()) {
      if (html_[at_] == '>') fail("a bare '>'");
      reading_.text += character();
    }
  }

  void read_tag() {
    if (skip("</")) {
      const std::string closed = name();
      if (open_.empty() || open_.back() != closed) fail("closes " + closed);
      if (!open_.empty()) open_.pop_back();
      if (!skip(">")) fail("'>' was expected");
      return;
    }
    ++at_;
    HtmlTag tag{name(), {}};
    while (reading_.error.empty() && skip(" ")) {
      const std::string attribute = name();
      if (!skip("=\"")) fail("a quoted value was expected");
      std::string value;
      while (reading_.error.empty() && at_ < html_.size() && html_[at_] != '"') {
        if (html_[at_] == '<') fail("'<' in a value");
        value += character();
      }
      if (!skip("\"")) fail("'\"' was expected");
      if (!tag.attributes.emplace(attribute, value).second) fail("twice: " + attribute);
    }
    if (!skip(">")) fail("'>' was expected");
    static const std::set<std::string> kEmpty = {"meta", "img"};
    reading_.tags.push_back(tag);
    if (kEmpty.count(tag.name) > 0) return;
    open_.push_back(tag.name);
    if (tag.name == "script" || tag.name == "style") read_raw(tag.name);
  }

  /// Scripts and styles end at the first thing that looks like their end.
  void read_raw(const std::string& element) {
    const std::size_t end = html_.find("</" + element, at_);
    if (end == std::string_view::npos) {
      fail("endless " + element);
      return;
    }
    const std::string contents(html_.substr(at_, end - at_));
    if (contents.find("<!--") != std::string::npos) fail("a comment in " + element);
    if (element == "script") reading_.scripts.push_back(contents);
    at_ = end;
  }

  std::string_view html_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
  HtmlReading reading_;
};

}  // namespace mixcert::testing
