// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two pieces of a parallel_for add to one unprotected number. The thread sanitizer must report it:
// this shows that it sees through our thread loop. The pieces wait for each other, so that two
// threads always take part; relaxed order gives the sanitizer no reason to think they are ordered.
#include <atomic>
#include <cstdio>
#include <thread>

#include "mixcert/core/parallel.h"

int main() {
  std::atomic<int> arrived = 0;
  double sum = 0.0;
  mixcert::parallel_for(2, 2, [&](mixcert::Index piece) {
    arrived.fetch_add(1, std::memory_order_relaxed);
    while (arrived.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
    sum += static_cast<double>(piece);
  });
  std::printf("%g\n", sum);
  return 0;
}
