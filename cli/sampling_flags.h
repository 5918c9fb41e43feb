// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The options of commands that draw samples, in one table.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "mixcert/statistics/simulate.h"

namespace mixcert::cli {

struct SamplingFlags {
  Index samples = 1000;
  bool joint = false;
  std::uint64_t seed = 0;
  int threads = 0;

  /// The fields listed in `only` when given.
  void add_to(CLI::App& command, const std::vector<std::string>& only = {});
  [[nodiscard]] SimulationOptions to_options() const;
  /// Throws ResourceError when `rows` x samples would not fit.
  void check_memory(Index rows) const;
};

}  // namespace mixcert::cli
