// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A worker thread and a waiting one.
#include "interruptible.h"

#include <pybind11/pybind11.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace mixcert::python {
namespace {

namespace py = pybind11;
constexpr std::chrono::milliseconds kPollInterval(20);

/// The work of one call and the place where its end is awaited.
class BackgroundWork {
 public:
  explicit BackgroundWork(const std::function<void(const CancelFlag&)>& work)
      : thread_([this, &work] { run(work); }) {}

  bool is_done_within(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, time, [this] { return done_; });
  }
  void cancel() { cancel_.store(true); }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run(const std::function<void(const CancelFlag&)>& work) {
    try {
      work(cancel_);
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    done_ = true;
    ended_.notify_one();
  }

  CancelFlag cancel_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;  // last: it uses the others
};

/// What a signal's handler or the progress raised; with the lock.
std::optional<py::error_already_set> look_for_signals(const std::function<void()>& tick) {
  if (PyErr_CheckSignals() != 0) return std::optional<py::error_already_set>(std::in_place);
  try {
    if (tick) tick();
  } catch (const py::error_already_set& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace

void run_interruptibly(const std::function<void(const CancelFlag&)>& work,
                       const std::function<void()>& tick) {
  std::optional<py::error_already_set> raised;
  std::exception_ptr failure;
  {
    const py::gil_scoped_release release;
    BackgroundWork background(work);
    while (!background.is_done_within(kPollInterval)) {
      if (raised) continue;
      const py::gil_scoped_acquire acquire;
      raised = look_for_signals(tick);
      if (raised) background.cancel();
    }
    try {
      background.rethrow();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (raised) throw py::error_already_set(*raised);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace mixcert::python
