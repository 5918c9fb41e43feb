// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Long work for Python: off the interpreter's lock, and stopped by Ctrl-C.
#pragma once

#include <functional>

#include "mixcert/core/parallel.h"

namespace mixcert::python {

/// Runs `work` on this thread without the interpreter's lock. Where `work` asks its flag, at most every 20
/// ms, this thread takes the lock and looks for signals: only Python's main thread may run their handlers. An
/// exception of a handler (KeyboardInterrupt) sets the flag and is raised once `work` has stopped. `tick`,
/// called on the same occasions, may show progress; it may be null. What `work` throws is thrown here. (On a
/// thread of its own, the work of a small network cost twice its time in waking processors.)
void run_interruptibly(const std::function<void(const CancelFlag&)>& work,
                       const std::function<void()>& tick = nullptr);

}  // namespace mixcert::python
