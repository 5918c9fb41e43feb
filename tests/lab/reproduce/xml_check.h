// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Is a text well-formed XML? A naive reader of tags, quoted attributes and references.
#pragma once

#include <cctype>
#include <string>
#include <vector>

namespace mixcert::test {

/// "" where the text is well-formed with one root, what is wrong otherwise.
inline std::string xml_fault(const std::string& text) {
  std::vector<std::string> open;
  int roots = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&') {
      const std::size_t end = text.find(';', i);
      if (end == std::string::npos || end - i > 8) return "a bare & at " + std::to_string(i);
    }
    if (text[i] == '>') return "a bare > at " + std::to_string(i);
    if (text[i] != '<') continue;
    std::size_t end = i + 1;
    bool quoted = false;
    for (; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "a < inside of a tag at " + std::to_string(end);
    }
    if (end == text.size()) return "a tag without an end";
    const std::string tag = text.substr(i + 1, end - i - 1);
    const std::string name =
        tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" />", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1))
        return "</" + tag.substr(1) + "> closes another element";
      open.pop_back();
    } else {
      if (open.empty()) ++roots;
      if (tag.back() != '/') open.push_back(name);
    }
    i = end;
  }
  if (!open.empty()) return "<" + open.back() + "> is not closed";
  return roots == 1 ? "" : "not one root";
}

}  // namespace mixcert::test
