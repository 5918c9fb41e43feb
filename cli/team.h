// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Who certifies the inputs of a run: this process alone, or the processes of an MPI job (mixcert-mpi). One of
// them leads: it holds journal, output files and terminal; the others send it their results.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "mixcert/core/parallel.h"
#include "mixcert/propagate/certify.h"

namespace mixcert::cli {

/// Inputs to be certified and what becomes of the results.
struct TeamWork {
  /// What the leader lacks; the others need not know.
  std::vector<Index> inputs;
  int threads = 1;  ///< that `certify` runs on
  /// Certifies what the queue names, as certify_queue() does.
  std::function<void(const InputQueue&, const ResultSink&)> certify;
  /// Called on the leader, on the thread that called work(): a result of its own, or the bytes of another's.
  std::function<void(Result&&)> arrived;
  std::function<void(Index, std::string_view)> arrived_encoded;
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
  /// Returns when all inputs are certified. Throws what `certify` throws; on the leader also what another
  /// process failed with.
  virtual void work(const TeamWork& work);
};

/// This process alone unless set_team() was called.
Team& team();
/// `team` must outlive every command.
void set_team(Team& team);

}  // namespace mixcert::cli
