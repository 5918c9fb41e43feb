// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Who does the work of a run that falls into inputs: this process alone, or the processes of an MPI job
// (mixcert-mpi). One of them leads: it holds journal, output files and terminal; the others send it what they
// have done, as bytes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mixcert/certify/certify.h"
#include "mixcert/core/parallel.h"

namespace mixcert::cli {

/// An input and what was made of it.
using BytesSink = std::function<void(Index, std::string&&)>;

/// Inputs to be worked on and what becomes of the results.
struct TeamWork {
  /// What the leader lacks; the others need not know.
  std::vector<Index> inputs;
  int threads = 1;  ///< that `perform` runs on
  /// Works on what the queue names, on threads of its own, and delivers from one at a time.
  std::function<void(const InputQueue&, const BytesSink&)> perform;
  /// Called on the leader, one at a time, with what anybody delivered.
  std::function<void(Index, std::string_view)> arrived;
  const CancelFlag* cancel = nullptr;
};

class Team {
 public:
  Team() = default;
  virtual ~Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] virtual bool leads() const { return true; }
  [[nodiscard]] virtual int size() const { return 1; }
  /// Returns when all inputs are done. Throws what `perform` throws; on the leader also what another process
  /// failed with.
  virtual void work(const TeamWork& work);
};

/// This process alone unless set_team() was called.
Team& team();
/// `team` must outlive every command.
void set_team(Team& team);

/// Calls body(i) for all that the queue names, on several threads, and delivers its bytes one at a time.
void for_each_in_queue(const InputQueue& queue, int threads, const CancelFlag* cancel,
                       const std::function<std::string(Index)>& body, const BytesSink& sink);

}  // namespace mixcert::cli
