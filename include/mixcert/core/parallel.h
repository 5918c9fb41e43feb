// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A loop over independent pieces of work on several threads. Plain std::jthread:
// the thread sanitizer understands it (oneTBB gave false alarms and hid races).
#pragma once

#include <atomic>
#include <functional>

#include "mixcert/core/types.h"

namespace mixcert {

/// Stops long work: set from a signal handler or another thread, asked by the work before each piece, which
/// then throws Interrupted. All threads of the work ask, the one that called it among them. A derived flag
/// may look elsewhere when it is asked: at a clock, or for an interpreter's signals.
class CancelFlag {
 public:
  static constexpr bool is_always_lock_free = std::atomic<bool>::is_always_lock_free;

  explicit CancelFlag(bool set = false) noexcept : set_(set) {}
  virtual ~CancelFlag() = default;
  CancelFlag(const CancelFlag&) = delete;
  CancelFlag& operator=(const CancelFlag&) = delete;

  void store(bool set) noexcept { set_.store(set); }
  [[nodiscard]] virtual bool load() const { return set_.load(); }

 private:
  std::atomic<bool> set_;
};

/// Number of threads to use for a request: 0 means one per processor.
int resolve_thread_count(int requested);

/// Calls body(i) for i = 0..count-1, each once, on `threads` threads (0: one per
/// processor). Pieces are handed out in order. The first exception thrown by a
/// piece stops the loop and is rethrown here. `cancel` may be null.
void parallel_for(Index count, int threads, const std::function<void(Index)>& body,
                  const CancelFlag* cancel = nullptr);

}  // namespace mixcert
