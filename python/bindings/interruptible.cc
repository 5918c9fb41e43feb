// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A flag that looks for Python's signals when it is asked.
#include "interruptible.h"

#include <pybind11/pybind11.h>

#include <chrono>
#include <exception>
#include <optional>
#include <thread>

namespace mixcert::python {
namespace {

namespace py = pybind11;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPollInterval(20);

class SignalFlag final : public CancelFlag {
 public:
  explicit SignalFlag(const std::function<void()>& tick) : tick_(tick) {}

  [[nodiscard]] bool load() const override {
    if (std::this_thread::get_id() == caller_ && !raised_ && Clock::now() >= next_look_) look();
    return is_set_.load();
  }
  [[nodiscard]] const std::optional<py::error_already_set>& raised() const { return raised_; }

 private:
  void look() const {
    {
      const py::gil_scoped_acquire acquire;
      try {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        if (tick_) tick_();
      } catch (const py::error_already_set& error) {
        raised_ = error;
      }
    }
    is_set_.store(raised_.has_value());
    next_look_ = Clock::now() + kPollInterval;
  }

  const std::function<void()>& tick_;
  const std::thread::id caller_ = std::this_thread::get_id();
  // The caller's alone, but for the atomic.
  mutable Clock::time_point next_look_ = Clock::now() + kPollInterval;
  mutable std::optional<py::error_already_set> raised_;
  mutable std::atomic<bool> is_set_{false};
};

}  // namespace

void run_interruptibly(const std::function<void(const CancelFlag&)>& work,
                       const std::function<void()>& tick) {
  const SignalFlag flag(tick);
  std::exception_ptr failure;
  {
    const py::gil_scoped_release release;
    try {
      work(flag);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (flag.raised()) throw py::error_already_set(*flag.raised());
  if (failure) std::rethrow_exception(failure);
}

}  // namespace mixcert::python
