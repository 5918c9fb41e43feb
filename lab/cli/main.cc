// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert-lab: data sets and training. Users type `mixcert data ...`, `mixcert train ...` or `mixcert gp
// ...`, and mixcert hands over to this program; help and messages therefore speak of mixcert.
#include "command.h"
#include "frame.h"
#include "run_context.h"
#include "terminal.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app("Data sets and training of stochastic neural networks.", "mixcert");
  mixcert::cli::prepare_parser(app);
  app.footer(
      "Example:\n  mixcert data fetch mnist\n"
      "Help on a command: mixcert train --help");
  mixcert::lab::add_data_command(app);
  mixcert::lab::add_train_command(app);
  mixcert::lab::add_untrained_command(app);
  mixcert::lab::add_gp_command(app);
  mixcert::lab::add_prior_commands(app);
  mixcert::lab::add_hmc_command(app);
  mixcert::lab::add_reproduce_command(app);
  return mixcert::cli::run_program(app, argc, argv, "interrupted, what was finished before is kept");
}

}  // namespace

int main(int argc, char** argv) try {
  mixcert::cli::record_command_line(argc, argv);
  mixcert::cli::install_signal_handlers();
  return run(argc, argv);
} catch (...) {
  // Only memory for an error message can be lacking here: errors of the commands are caught inside.
  return 1;
}
