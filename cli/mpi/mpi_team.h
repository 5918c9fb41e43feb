// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A team of MPI processes. The leader hands out inputs a few at a time, fewer towards the end, so that slow
// inputs hold nobody up; it works like the others and collects what they send. In every process the
// thread that called work() does all the talking; others work.
#pragma once

#include <exception>
#include <string>
#include <thread>

#include "mpi/input_pool.h"
#include "mpi/messages.h"
#include "team.h"

namespace mixcert::cli {

class MpiTeam : public Team {
 public:
  [[nodiscard]] bool leads() const override { return rank_ == kLeader; }
  [[nodiscard]] int size() const override { return count_; }
  void work(const TeamWork& work) override;

  /// What a process that does not lead complained of; its leader says it.
  void set_complaint(const std::string& line) { complaint_ = line; }
  /// Before MPI_Finalize: nobody waits for this process any more.
  void leave();

 private:
  void lead(const TeamWork& work);
  void help(const TeamWork& work);

  int rank_ = process_rank();
  int count_ = process_count();
  int helpers_ = count_ - 1;  ///< that have not said their last word
  std::string complaint_;
};

}  // namespace mixcert::cli
