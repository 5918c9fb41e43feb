// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Progress bar and signal handlers.
#include "terminal.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "io/files/partial_file.h"

namespace mixcert::cli {
namespace {

constexpr int kBarWidth = 30;
constexpr std::chrono::milliseconds kRedrawInterval(100);

CancelFlag& flag() {
  static CancelFlag instance{false};
  return instance;
}

/// The second signal ends the program at once, without what is written beside output files.
extern "C" void request_cancel(int signal) {
  if (!flag().load()) return flag().store(true);
  io::remove_partial_files();
  std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

}  // namespace

const CancelFlag& cancel_flag() { return flag(); }

void install_signal_handlers() {
  static_assert(CancelFlag::is_always_lock_free);
  flag().store(false);  // also constructs it, which a handler must not do
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, request_cancel);
  // A closed pipe must not end a run that is also writing files.
  std::signal(SIGPIPE, SIG_IGN);
}

ProgressBar::ProgressBar(std::string label, Index total)
    : label_(std::move(label)), total_(std::max<Index>(total, 1)), visible_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::advance(Index count) {
  const std::scoped_lock lock(mutex_);
  done_ += count;
  const auto now = std::chrono::steady_clock::now();
  if (!visible_ || now - last_drawn_ < kRedrawInterval) return;
  last_drawn_ = now;
  draw();
}

void ProgressBar::print(const std::string& lines) {
  clear();
  std::fputs(lines.c_str(), stdout);
  last_drawn_ = {};
}

void ProgressBar::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void ProgressBar::draw() {
  const int filled = static_cast<int>(kBarWidth * done_ / total_);
  const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                          std::string(static_cast<std::size_t>(kBarWidth - filled), '.');
  std::fprintf(stderr, "\r%s [%s] %lld/%lld\033[K", label_.c_str(), bar.c_str(),
               static_cast<long long>(done_), static_cast<long long>(total_));
  drawn_ = true;
}

}  // namespace mixcert::cli
