// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Progress bar and signal handlers.
#include "terminal.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <utility>

#include "io/files/partial_file.h"
#include "mixcert/certify/work_estimate.h"

namespace mixcert::cli {
namespace {

constexpr int kBarWidth = 30;
constexpr std::chrono::milliseconds kRedrawInterval(200);
constexpr std::chrono::milliseconds kLineDelay(1000);

CancelFlag& flag() {
  static CancelFlag instance{false};
  return instance;
}

/// `timeout` signals the program and then its group: two signals within this time are one request.
constexpr std::chrono::milliseconds kOneRequest(250);

using Ticks = std::chrono::steady_clock::rep;

Ticks ticks_now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// When the first signal came; 0: none has.
std::atomic<Ticks>& first_signal() {
  static std::atomic<Ticks> instance{0};
  return instance;
}

/// The second signal ends the program at once, without what is written beside output files.
extern "C" void request_cancel(int signal) {
  const Ticks now = ticks_now();
  Ticks first = 0;
  if (first_signal().compare_exchange_strong(first, now)) return flag().store(true);
  if (std::chrono::steady_clock::duration(now - first) < kOneRequest) return;
  io::remove_partial_files();
  std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

}  // namespace

const CancelFlag& cancel_flag() { return flag(); }

void finish_what_was_interrupted() { flag().store(false); }

void install_signal_handlers() {
  static_assert(CancelFlag::is_always_lock_free);
  // This also constructs them, which a handler must not do.
  static_assert(std::atomic<Ticks>::is_always_lock_free);
  first_signal().store(0);
  flag().store(false);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, request_cancel);
  // A closed pipe must not end a run that is also writing files.
  std::signal(SIGPIPE, SIG_IGN);
}

DelayedLine::DelayedLine(const std::string& line) {
  if (line.empty()) return;
  waiting_ = std::jthread([line](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    (void)never.wait_for(lock, stop, kLineDelay, [] { return false; });
    const char* const wipe = isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "";
    if (!stop.stop_requested()) std::fprintf(stderr, "%s%s\n", wipe, line.c_str());
  });
}

ProgressBar::ProgressBar(std::string label, Index total, double expected)
    : label_(std::move(label)),
      total_(std::max<Index>(total, 1)),
      visible_(isatty(STDERR_FILENO) != 0),
      expected_(expected) {
  if (visible_) redraws_ = std::jthread([this](const std::stop_token& stop) { redraw_until(stop); });
}

ProgressBar::~ProgressBar() {
  redraws_ = {};
  clear();
}

void ProgressBar::redraw_until(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    (void)wake_.wait_for(lock, stop, kRedrawInterval, [] { return false; });
    if (!stop.stop_requested()) draw();
  }
}

void ProgressBar::advance(Index count) {
  const std::scoped_lock lock(mutex_);
  done_ += count;
  const auto now = std::chrono::steady_clock::now();
  if (visible_ && now - last_drawn_ >= kRedrawInterval) draw();
}

void ProgressBar::keep(Index count) {
  const std::scoped_lock lock(mutex_);
  kept_ = count;
  expected_ *= static_cast<double>(total_ - count) / static_cast<double>(total_);
}

void ProgressBar::print(const std::string& lines) {
  const std::scoped_lock lock(mutex_);
  wipe();
  std::fputs(lines.c_str(), stdout);
  last_drawn_ = {};
}

void ProgressBar::clear() {
  const std::scoped_lock lock(mutex_);
  wipe();
}

void ProgressBar::wipe() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

std::string ProgressBar::time_left() const {
  const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const Index made = done_ - kept_;
  if (made > 0 && done_ < total_) {
    const double share = static_cast<double>(total_ - done_) / static_cast<double>(made);
    return ", " + duration_text(spent * share) + " left";
  }
  if (made > 0 || expected_ <= 0.0) return "";
  return expected_ > spent ? ", about " + duration_text(expected_ - spent) + " left (estimate)"
                           : ", longer than the estimated " + duration_text(expected_);
}

void ProgressBar::draw() {
  const int filled = static_cast<int>(kBarWidth * done_ / total_);
  const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                          std::string(static_cast<std::size_t>(kBarWidth - filled), '.');
  std::fprintf(stderr, "\r%s [%s] %lld/%lld%s\033[K", label_.c_str(), bar.c_str(),
               static_cast<long long>(done_), static_cast<long long>(total_), time_left().c_str());
  drawn_ = true;
  last_drawn_ = std::chrono::steady_clock::now();
}

}  // namespace mixcert::cli
