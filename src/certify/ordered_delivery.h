// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Hands results to the sink in the order of the inputs although threads finish them in any
// order, holding back only a bounded number of them.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>

#include "mixcert/certify/certify.h"

namespace mixcert {

class OrderedDelivery {
 public:
  OrderedDelivery(const ResultSink& sink, Index window) : sink_(sink), window_(window) {}

  /// Waits until input `index` is within the window of the next one to deliver, so that one
  /// slow input cannot make the finished ones pile up. Returns at once after abandon().
  void wait_for_turn(Index index);
  /// Delivers this and every waiting result whose turn has come.
  void deliver(Result&& result);
  /// Wakes all waiters for good: some piece has failed and the loop is ending.
  void abandon();

 private:
  const ResultSink& sink_;
  const Index window_;
  std::mutex mutex_;
  std::condition_variable advanced_;
  Index next_ = 0;
  bool abandoned_ = false;
  std::map<Index, Result> waiting_;
};

}  // namespace mixcert
