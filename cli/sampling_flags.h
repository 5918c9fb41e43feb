// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The options of commands that draw samples, in one table.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

#include "mixcert/network/network.h"
#include "mixcert/simulate/simulate.h"

namespace mixcert::cli {

struct SamplingFlags {
  Index samples = 1000;
  bool joint = false;
  std::uint64_t seed = 0;
  int threads = 0;

  void add_to(CLI::App& command);
  [[nodiscard]] SimulationOptions to_options() const;
  /// Throws ResourceError when `rows` x samples would not fit.
  void check_memory(Index rows) const;
};

/// Throws InvalidArgument unless the inputs have the network's number of features.
void check_features(const Network& network, const Matrix& inputs);

}  // namespace mixcert::cli
