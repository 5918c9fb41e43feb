// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// parallel_for: threads take the next piece from a shared counter until none is left.
#include "mixcert/core/parallel.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "mixcert/core/error.h"

namespace mixcert {
namespace {

/// State shared by the threads of one loop.
class Loop {
 public:
  Loop(Index count, const std::function<void(Index)>& body, const CancelFlag* cancel)
      : count_(count), body_(body), cancel_(cancel) {}

  void run_pieces() {
    // Relaxed order is enough, since joining the threads orders everything; a stronger one would
    // order the pieces among themselves and so hide their races from the thread sanitizer.
    while (!stopped_.load(std::memory_order_relaxed)) {
      const Index piece = next_.fetch_add(1, std::memory_order_relaxed);
      if (piece >= count_) return;
      try {
        if (cancel_ != nullptr && cancel_->load()) throw Interrupted("interrupted");
        body_(piece);
      } catch (...) {
        keep_first_exception();
      }
    }
  }

  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  void keep_first_exception() {
    const std::scoped_lock lock(mutex_);
    if (!exception_) exception_ = std::current_exception();
    stopped_.store(true);
  }

  const Index count_;
  const std::function<void(Index)>& body_;
  const CancelFlag* cancel_;
  std::atomic<Index> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::exception_ptr exception_;
};

}  // namespace

int resolve_thread_count(int requested) {
  if (requested > 0) return requested;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(Index count, int threads, const std::function<void(Index)>& body,
                  const CancelFlag* cancel) {
  Loop loop(count, body, cancel);
  const Index helpers = std::min<Index>(resolve_thread_count(threads), count) - 1;
  {
    std::vector<std::jthread> pool;
    for (Index i = 0; i < helpers; ++i) pool.emplace_back([&loop] { loop.run_pieces(); });
    loop.run_pieces();
  }
  loop.rethrow();
}

}  // namespace mixcert
