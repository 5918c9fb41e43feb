// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The commands of mixcert, and becoming mixcert-mpi.
#include "program.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "command.h"
#include "frame.h"

namespace mixcert::cli {
namespace {

/// What Open MPI, MPICH and Slurm tell each process: how many there are, and which it is.
struct Launcher {
  const char* count;
  const char* place;
};
constexpr Launcher kLaunchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                   {"PMI_SIZE", "PMI_RANK"},
                                   {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

int number_in(const char* variable) {
  // Read once, before there are threads.
  const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? -1 : static_cast<int>(std::strtol(text, nullptr, 10));
}

}  // namespace

int run_mixcert(int argc, char** argv) {
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

int place_among_processes() {
  for (const Launcher& launcher : kLaunchers) {
    if (number_in(launcher.count) > 1) return number_in(launcher.place);
  }
  return -1;
}

int hand_over_to_mpi(char** argv) {
  const std::string beside = beside_this_program("mixcert-mpi");
  if (!beside.empty()) ::execv(beside.c_str(), argv);
  if (place_among_processes() != 0) return kUserError;
  return complain(
      "started as one of several processes, but mixcert-mpi is not built; configure with "
      "-DMIXCERT_BUILD_MPI=ON, or start it once",
      kUserError);
}

}  // namespace mixcert::cli
