// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert: the command line. Commands of mixcert-lab are handed over before anything is parsed, and so is
// work by several processes.
#include <string_view>

#include "command.h"
#include "program.h"
#include "run_context.h"
#include "terminal.h"

int main(int argc, char** argv) try {
  using namespace mixcert::cli;
  if (argc > 1 && is_lab_command(argv[1])) return hand_over_to_lab(argv);
  if (const int place = place_among_processes(); place >= 0 && argc > 1) {
    const std::string_view command = argv[1];
    if (command == "certify" || command == "compare") return hand_over_to_mpi(argv);
    if (place > 0) return 0;  // other commands are the work of one
  }
  record_command_line(argc, argv);
  install_signal_handlers();
  return run_mixcert(argc, argv);
} catch (...) {
  // Only memory for an error message can be lacking here: errors of the commands are caught inside.
  return 1;
}
