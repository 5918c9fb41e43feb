// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert data, mixcert train, mixcert gp, mixcert hmc, ..: handed over to the program mixcert-lab, which is
// built apart because certifying needs none of it.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "command.h"
#include "frame.h"

namespace mixcert::cli {
namespace {

struct LabCommand {
  std::string_view name;
  std::string_view description;
};

constexpr std::array<LabCommand, 8> kLabCommands = {{
    {"data", "fetch, check and show data sets (mixcert-lab)"},
    {"train", "train a stochastic network (mixcert-lab)"},
    {"untrained", "a convolutional network with random means (mixcert-lab)"},
    {"gp", "fit a Gaussian process to a data set (mixcert-lab)"},
    {"hmc", "sample a network's posterior on a table (mixcert-lab)"},
    {"critic-prior", "a prior by a critic's W1 to a Gaussian process (mixcert-lab)"},
    {"isotropic-prior", "a prior with one variance for all weights (mixcert-lab)"},
    {"reproduce", "the paper's tables and figures, and ours beside them (mixcert-lab)"},
}};

constexpr const char* kLabProgram = "mixcert-lab";

}  // namespace

void add_lab_commands(CLI::App& app) {
  for (const auto& [name, description] : kLabCommands) {
    app.add_subcommand(std::string(name), std::string(description));
  }
}

bool is_lab_command(const std::string& word) {
  return std::any_of(kLabCommands.begin(), kLabCommands.end(),
                     [&word](const LabCommand& command) { return command.name == word; });
}

int hand_over_to_lab(char** argv) {
  const std::string beside = beside_this_program(kLabProgram);
  if (!beside.empty()) ::execv(beside.c_str(), argv);
  int reason = errno;
  if (beside.empty() || reason == ENOENT) {
    ::execvp(kLabProgram, argv);
    reason = errno;
  }
  const std::string command = argv[1];
  if (reason != ENOENT) {
    return complain(command + ": cannot start mixcert-lab: " + std::generic_category().message(reason),
                    kUserError);
  }
  return complain(
      command + ": mixcert-lab is not built; build it with ./run --lab or cmake -DMIXCERT_BUILD_LAB=ON",
      kUserError);
}

}  // namespace mixcert::cli
