// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Progress on the terminal and interruption by signal.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "mixcert/core/parallel.h"

namespace mixcert::cli {

/// Set by SIGINT, SIGTERM and SIGHUP once install_signal_handlers() was called.
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
  /// Prints lines on standard output in place of the bar, which comes back at the next advance().
  void print(const std::string& lines);
  /// Wipes the bar.
  void clear();

 private:
  void draw();

  std::string label_;
  Index total_;
  Index done_ = 0;
  bool visible_;        ///< standard error is a terminal
  bool drawn_ = false;  ///< the bar is there now
  std::mutex mutex_;
  std::chrono::steady_clock::time_point last_drawn_;
};

}  // namespace mixcert::cli
