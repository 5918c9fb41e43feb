// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Progress on the terminal and interruption by signal.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "mixcert/core/parallel.h"

namespace mixcert::cli {

/// Set by SIGINT and SIGTERM once install_signal_handlers() was called.
const CancelFlag& cancel_flag();
void install_signal_handlers();

/// A bar on standard error, drawn only when that is a terminal, at most ten times a second.
class ProgressBar {
 public:
  ProgressBar(std::string label, Index total);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void advance(Index count = 1);
  /// Wipes the bar so that other text can be printed; it comes back with the next advance().
  void clear();

 private:
  void draw();

  std::string label_;
  Index total_;
  Index done_ = 0;
  bool visible_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point last_drawn_;
};

}  // namespace mixcert::cli
