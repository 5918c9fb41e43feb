// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A team of one.
#include "team.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "mixcert/core/error.h"

namespace mixcert::cli {
namespace {

Team& alone() {
  static Team team;
  return team;
}

Team*& current() {
  static Team* team = &alone();
  return team;
}

}  // namespace

void Team::work(const TeamWork& work) {
  std::atomic<std::size_t> next{0};
  const InputQueue queue = [&](Index most) {
    const auto wanted = static_cast<std::size_t>(most);
    const std::size_t begin = std::min(next.fetch_add(wanted), work.inputs.size());
    const std::size_t end = std::min(begin + wanted, work.inputs.size());
    return std::vector<Index>(work.inputs.begin() + static_cast<std::ptrdiff_t>(begin),
                              work.inputs.begin() + static_cast<std::ptrdiff_t>(end));
  };
  work.perform(queue, [&](Index input, std::string&& bytes) { work.arrived(input, bytes); });
}

void for_each_in_queue(const InputQueue& queue, int threads, const CancelFlag* cancel,
                       const std::function<std::string(Index)>& body, const BytesSink& sink) {
  std::mutex one_at_a_time;
  std::atomic<bool> stopped{false};
  // One piece per thread, each taking inputs until there are none.
  parallel_for(threads, threads, [&](Index) {
    try {
      for (auto taken = queue(1); !taken.empty() && !stopped.load(); taken = queue(1)) {
        if (cancel != nullptr && cancel->load()) throw Interrupted("interrupted");
        std::string bytes = body(taken.front());
        const std::lock_guard<std::mutex> guard(one_at_a_time);
        sink(taken.front(), std::move(bytes));
      }
    } catch (...) {
      stopped.store(true);
      throw;
    }
  });
}

Team& team() { return *current(); }
void set_team(Team& team) { current() = &team; }

}  // namespace mixcert::cli
