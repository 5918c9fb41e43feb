// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Messages between the processes of a job: what each says, and sending and receiving bytes. The only file
// beside main that sees MPI.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mixcert/core/types.h"

namespace mixcert::cli {

enum class Message : int {
  Request = 1,  ///< to the leader: give me inputs
  Inputs,       ///< to a helper: work on these; none: there are no more
  Result,       ///< to the leader: an input and the bytes made of it
  Done,         ///< to the leader: nothing more will come from me
  Failure,      ///< the same, with the line that says why
};

inline constexpr int kLeader = 0;

struct Received {
  Message message;
  int from = 0;
  std::string bytes;
};

int process_rank();
int process_count();
/// Waits until the bytes may be forgotten. Throws ResourceError beyond 2 GiB.
void send_bytes(int to, Message message, std::string_view bytes);
/// Nothing where no message waits.
std::optional<Received> receive_any();

}  // namespace mixcert::cli
