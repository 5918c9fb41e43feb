// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Runs experiments, keeps what they find, and renews the index page over everything that is there.
#pragma once

#include "reproduce/experiment.h"

namespace mixcert::lab {

struct ReproduceSummary {
  std::vector<std::string> ran;
  std::vector<std::string> kept;  ///< finished before with the same settings
  double seconds = 0.0;           ///< wall clock of this run
  double whole_seconds = 0.0;     ///< wall clock of all runs that the experiments took
};

/// Experiments that are complete in the folder are not run again unless options.restart. The index page is
/// renewed after each.
ReproduceSummary reproduce(const std::vector<const Experiment*>& wanted, const Context& context);

}  // namespace mixcert::lab
