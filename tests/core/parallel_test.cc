// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// parallel_for: every piece once, exceptions come out, cancelling stops, any thread count.
#include "mixcert/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "mixcert/core/error.h"

namespace mixcert {
namespace parallel_test {

class ParallelFor : public ::testing::TestWithParam<int> {};

TEST_P(ParallelFor, DoesEachPieceOnce) {
  for (const Index count : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
    parallel_for(count, GetParam(), [&](Index i) { ++calls[static_cast<std::size_t>(i)]; });
    for (const auto& n : calls) EXPECT_EQ(n.load(), 1);
  }
}

TEST_P(ParallelFor, RethrowsAndStops) {
  std::atomic<int> done{0};
  const auto body = [&](Index i) {
    if (i == 5) throw InvalidArgument("piece 5");
    ++done;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  };
  try {
    parallel_for(20000, GetParam(), body);
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "piece 5");
  }
  EXPECT_LT(done.load(), 20000 - 1);
}

TEST_P(ParallelFor, RethrowsAnyTypeOnceWhenAllPiecesThrow) {
  EXPECT_THROW(parallel_for(100, GetParam(), [](Index) { throw std::out_of_range("x"); }), std::out_of_range);
  EXPECT_THROW(parallel_for(100, GetParam(), [](Index) { throw 7; }), int);
}

TEST_P(ParallelFor, StopsWhenCancelled) {
  CancelFlag cancel{false};
  std::atomic<int> done{0};
  const auto body = [&](Index i) {
    ++done;
    if (i == 3) cancel.store(true);
  };
  EXPECT_THROW(parallel_for(100000, GetParam(), body, &cancel), Interrupted);
  EXPECT_LT(done.load(), 100000);

  done = 0;
  EXPECT_THROW(parallel_for(10, GetParam(), body, &cancel), Interrupted);
  EXPECT_EQ(done.load(), 0);
}

TEST_P(ParallelFor, DoesNotInterruptFinishedWork) {
  CancelFlag cancel{false};
  EXPECT_NO_THROW(parallel_for(
      4, 1, [&](Index i) { cancel.store(i == 3); }, &cancel));
  EXPECT_NO_THROW(parallel_for(
      0, GetParam(), [](Index) {}, &cancel));
}

INSTANTIATE_TEST_SUITE_P(ThreadCounts, ParallelFor, ::testing::Values(0, 1, 2, 3, 16));

TEST(Parallel, NestedLoopsFinish) {
  std::atomic<int> calls{0};
  parallel_for(8, 3, [&](Index) { parallel_for(8, 2, [&](Index) { ++calls; }); });
  EXPECT_EQ(calls.load(), 64);
}

TEST(Parallel, UsesSeveralThreadsAndTheCallersWhenAlone) {
  std::set<std::thread::id> seen;
  parallel_for(10, 1, [&](Index) { seen.insert(std::this_thread::get_id()); });
  EXPECT_EQ(seen, std::set<std::thread::id>{std::this_thread::get_id()});
  // Two pieces that wait for each other can only finish on two threads.
  std::atomic<int> arrived{0};
  parallel_for(2, 2, [&](Index) {
    ++arrived;
    while (arrived.load() < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived.load(), 2);
}

TEST(Parallel, ResolvesThreadCounts) {
  EXPECT_EQ(resolve_thread_count(5), 5);
  EXPECT_GE(resolve_thread_count(0), 1);
  EXPECT_GE(resolve_thread_count(-3), 1);
}

}  // namespace parallel_test
}  // namespace mixcert
