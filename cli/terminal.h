// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Progress on the terminal and interruption by signal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "mixcert/core/parallel.h"

namespace mixcert::cli {

/// Set by SIGINT, SIGTERM and SIGHUP once install_signal_handlers() was called.
const CancelFlag& cancel_flag();
/// For what is kept of interrupted work to be written; the next signal ends the program at once all the same.
void finish_what_was_interrupted();
void install_signal_handlers();

/// A line on standard error, unless its object is gone within a second: work that is refused says why, and
/// nothing else.
class DelayedLine {
 public:
  /// An empty line is none.
  explicit DelayedLine(const std::string& line);

 private:
  std::jthread waiting_;
};

/// A bar on standard error with the time that is left, drawn only when that is a terminal, by a thread of its
/// own: the work may say nothing for a minute.
class ProgressBar {
 public:
  /// `expected`: seconds that all will take, an estimate that is shown until something is done; 0: unknown.
  ProgressBar(std::string label, Index total, double expected = 0.0);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void advance(Index count = 1);
  /// So many of all were there at the start: they take no time, and are shown once they are advanced over.
  void keep(Index count);
  /// Prints lines on standard output in place of the bar, which comes back.
  void print(const std::string& lines);
  /// Wipes the bar.
  void clear();

 private:
  /// With the lock held.
  void draw();
  void wipe();
  void redraw_until(const std::stop_token& stop);
  [[nodiscard]] std::string time_left() const;

  std::string label_;
  Index total_;
  Index done_ = 0;
  Index kept_ = 0;
  bool visible_;        ///< standard error is a terminal
  bool drawn_ = false;  ///< the bar is there now
  double expected_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_drawn_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread redraws_;  ///< none where there is no terminal
};

}  // namespace mixcert::cli
