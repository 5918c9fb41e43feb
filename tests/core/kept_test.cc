// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "core/kept.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace mixcert {
namespace kept_test {

TEST(Kept, MakesEachValueOnceAlsoForManyThreads) {
  Kept kept;
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const int>> seen(8);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&, i] { seen[i] = kept.get<int>("a", [&] { return 40 + ++made; }); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  for (const auto& value : seen) EXPECT_EQ(value, seen.front());
  EXPECT_EQ(*seen.front(), 41);
  EXPECT_EQ(*kept.get<double>("b", [] { return 0.5; }), 0.5);
}

TEST(Kept, WhatThrowsIsTriedAgain) {
  Kept kept;
  EXPECT_THROW((void)kept.get<int>("a", []() -> int { throw std::runtime_error("stopped"); }),
               std::runtime_error);
  EXPECT_EQ(*kept.get<int>("a", [] { return 7; }), 7);
}

}  // namespace kept_test
}  // namespace mixcert
