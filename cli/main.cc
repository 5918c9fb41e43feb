// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert: the command line. Commands of mixcert-lab are handed over before anything is parsed.
#include "command.h"
#include "frame.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

int run(int argc, char** argv) {
  CLI::App app("Gaussian mixtures with a proven 2-Wasserstein bound for stochastic neural networks.",
               "mixcert");
  prepare_parser(app);
  app.footer(
      "Example:\n  mixcert certify net.safetensors --inputs x.csv --out result.npz\n"
      "Help on a command: mixcert certify --help");
  add_certify_command(app);
  add_sample_command(app);
  add_compare_command(app);
  add_answer_command(app);
  add_explain_command(app);
  add_import_command(app);
  add_inspect_command(app);
  add_tune_command(app);
  add_compare_prior_command(app);
  add_options_command(app);
  add_lab_commands(app);
  return run_program(app, argc, argv);
}

}  // namespace
}  // namespace mixcert::cli

int main(int argc, char** argv) try {
  if (argc > 1 && mixcert::cli::is_lab_command(argv[1])) return mixcert::cli::hand_over_to_lab(argv);
  mixcert::cli::record_command_line(argc, argv);
  mixcert::cli::install_signal_handlers();
  return mixcert::cli::run(argc, argv);
} catch (...) {
  // Only memory for an error message can be lacking here: errors of the commands are caught inside.
  return 1;
}
