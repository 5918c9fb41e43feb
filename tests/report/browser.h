// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Headless Chromium, driven by its DevTools protocol through a pair of pipes: no driver program, no port, no
// network. Every request that a page makes and every line of its console are kept.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/test_files.h"

namespace mixcert::test {

class Browser {
 public:
  using Json = nlohmann::json;

  /// Throws std::runtime_error where Chromium cannot be started.
  Browser();
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Width and height of the window, and what the page is told the user prefers.
  void show_as(int width, int height, bool dark);
  /// Opens a file and waits until its charts are drawn; forgets requests and messages of pages before it.
  void open(const std::filesystem::path& file);
  /// Value of a JavaScript expression.
  Json evaluate(const std::string& expression);
  /// Waits until the expression is true; false where it is not so after ten seconds.
  bool becomes_true(const std::string& expression);
  /// A key pressed where the focus is: "Enter", "Tab", " ".
  void press(const std::string& key);
  /// The whole page as a PNG file.
  void screenshot(const std::filesystem::path& file);

  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }
  /// Errors, warnings and whatever else a page says; dialogs it opens.
  [[nodiscard]] const std::vector<std::string>& messages() const { return messages_; }

 private:
  void start();
  void attach();
  Json call(const std::string& method, Json parameters = Json::object());
  Json receive();
  void note(const Json& event);

  TempDirectory profile_;
  int to_browser_ = -1;
  int from_browser_ = -1;
  pid_t process_ = -1;
  std::string received_;
  std::string session_;
  int last_call_ = 0;
  bool loaded_ = false;
  std::vector<std::string> requests_;
  std::vector<std::string> messages_;
};

}  // namespace mixcert::test
