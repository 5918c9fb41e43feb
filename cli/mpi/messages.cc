// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bytes over MPI.
#include "mpi/messages.h"

#include <mpi.h>

#include <limits>

#include "mixcert/core/error.h"

namespace mixcert::cli {

int process_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int process_count() {
  int count = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

void send_bytes(int to, Message message, std::string_view bytes) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw ResourceError("a result of more than 2 GiB cannot be sent between processes; run without mpirun");
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, static_cast<int>(message),
           MPI_COMM_WORLD);
}

std::optional<Received> receive_any() {
  int waiting = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &waiting, &status);
  if (waiting == 0) return std::nullopt;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  Received received{static_cast<Message>(status.MPI_TAG), status.MPI_SOURCE,
                    std::string(static_cast<std::size_t>(size), '\0')};
  MPI_Recv(received.bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return received;
}

}  // namespace mixcert::cli
