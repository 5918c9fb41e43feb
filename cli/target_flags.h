// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Inputs and the target law at them, as flags of several commands.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mixcert/tune/tune.h"
#include "run_context.h"

namespace mixcert::cli {

struct TargetFlags {
  std::string inputs;
  std::optional<std::string> kernel;
  std::string mean = "zero";
  std::optional<std::string> target;

  void add_to(CLI::App& command);
  /// Throws InvalidArgument unless there is one of kernel and target.
  void check() const;
  [[nodiscard]] std::vector<NamedFile> files() const { return {{"--inputs", inputs}, {"--target", target}}; }
  /// For a network with this number of outputs.
  [[nodiscard]] TuneProblem load(Index outputs) const;
};

}  // namespace mixcert::cli
