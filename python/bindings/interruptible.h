// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Long work for Python: off the interpreter's lock, and stopped by Ctrl-C.
#pragma once

#include <functional>

#include "mixcert/core/parallel.h"

namespace mixcert::python {

/// Runs `work` on a thread of its own while this one, without the interpreter's lock, looks for signals: only
/// Python's main thread may run their handlers. An exception of a handler (KeyboardInterrupt) sets the flag
/// that `work` was given and is raised once `work` has stopped. `tick`, called with the lock now and then,
/// may show progress; it may be null. What `work` throws is thrown here.
void run_interruptibly(const std::function<void(const CancelFlag&)>& work,
                       const std::function<void()>& tick = nullptr);

}  // namespace mixcert::python
