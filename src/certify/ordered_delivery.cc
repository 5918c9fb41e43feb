// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// In-order delivery with a bounded window.
#include "certify/ordered_delivery.h"

#include <utility>

namespace mixcert {

void OrderedDelivery::wait_for_turn(Index index) {
  std::unique_lock lock(mutex_);
  advanced_.wait(lock, [&] { return abandoned_ || index < next_ + window_; });
}

void OrderedDelivery::deliver(Result&& result) {
  const std::scoped_lock lock(mutex_);
  const Index index = result.input;
  waiting_.emplace(index, std::move(result));
  for (auto entry = waiting_.find(next_); entry != waiting_.end(); entry = waiting_.find(next_)) {
    Result ready = std::move(entry->second);
    waiting_.erase(entry);
    sink_(std::move(ready));
    ++next_;
  }
  advanced_.notify_all();
}

void OrderedDelivery::abandon() {
  const std::scoped_lock lock(mutex_);
  abandoned_ = true;
  advanced_.notify_all();
}

}  // namespace mixcert
