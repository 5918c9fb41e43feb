// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert-mpi: mixcert as one of several processes. `mpirun mixcert ...` becomes this program by itself.
#include <mpi.h>

#include <cstdlib>

#include "command.h"
#include "frame.h"
#include "mpi/mpi_team.h"
#include "program.h"
#include "run_context.h"
#include "terminal.h"

int main(int argc, char** argv) try {
  using namespace mixcert::cli;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  record_command_line(argc, argv);
  install_signal_handlers();
  MpiTeam team;
  set_team(team);
  if (!team.leads()) keep_complaints([&team](const std::string& line) { team.set_complaint(line); });
  const int code = run_mixcert(argc, argv);
  // Others may be dead: MPI_Finalize would wait for them for ever.
  if (code == kInterruptedExit) std::_Exit(code);
  team.leave();
  MPI_Finalize();
  // The leader says what went wrong anywhere.
  return team.leads() ? code : 0;
} catch (...) {
  return 1;
}
