// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What passes between the threads that work and the one that speaks with other processes: inputs that
// wait, and results that are done.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert::cli {

class InputPool {
 public:
  void add(const std::vector<Index>& inputs) {
    const std::lock_guard<std::mutex> guard(mutex_);
    waiting_.insert(waiting_.end(), inputs.begin(), inputs.end());
    changed_.notify_all();
  }
  /// No more will come; `drop` also gives up those that wait.
  void close(bool drop) {
    const std::lock_guard<std::mutex> guard(mutex_);
    closed_ = true;
    if (drop) waiting_.clear();
    changed_.notify_all();
  }
  [[nodiscard]] bool is_closed() const {
    const std::lock_guard<std::mutex> guard(mutex_);
    return closed_;
  }
  [[nodiscard]] Index waiting() const {
    const std::lock_guard<std::mutex> guard(mutex_);
    return static_cast<Index>(waiting_.size());
  }
  /// At most `most` inputs as soon as there is one; none once the pool is closed and empty.
  std::vector<Index> take(Index most) {
    std::unique_lock<std::mutex> guard(mutex_);
    changed_.wait(guard, [&] { return closed_ || !waiting_.empty(); });
    const auto count = std::min<std::ptrdiff_t>(most, static_cast<std::ptrdiff_t>(waiting_.size()));
    const std::vector<Index> taken(waiting_.begin(), waiting_.begin() + count);
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    return taken;
  }

  struct Delivered {
    Index input;
    std::string bytes;
  };
  void deliver(Index input, std::string&& bytes) {
    const std::lock_guard<std::mutex> guard(mutex_);
    done_.push_back({input, std::move(bytes)});
  }
  std::vector<Delivered> delivered() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return std::exchange(done_, {});
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Index> waiting_;
  std::vector<Delivered> done_;
  bool closed_ = false;
};

}  // namespace mixcert::cli
