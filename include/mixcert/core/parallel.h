// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A loop over independent pieces of work on several threads. Plain std::jthread:
// the thread sanitizer understands it (oneTBB gave false alarms and hid races).
#pragma once

#include <atomic>
#include <functional>

#include "mixcert/core/types.h"

namespace mixcert {

/// Set from a signal handler or another thread to stop long work; the work then
/// throws Interrupted at the next piece.
using CancelFlag = std::atomic<bool>;

/// Number of threads to use for a request: 0 means one per processor.
int resolve_thread_count(int requested);

/// Calls body(i) for i = 0..count-1, each once, on `threads` threads (0: one per
/// processor). Pieces are handed out in order. The first exception thrown by a
/// piece stops the loop and is rethrown here. `cancel` may be null.
void parallel_for(Index count, int threads, const std::function<void(Index)>& body,
                  const CancelFlag* cancel = nullptr);

}  // namespace mixcert
