// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A team of one.
#include "team.h"

#include <algorithm>
#include <atomic>

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
  work.certify(queue, work.arrived);
}

Team& team() { return *current(); }
void set_team(Team& team) { current() = &team; }

}  // namespace mixcert::cli
