// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Prior selection from options to prior: the whole run in memory, or with files, where a run that was
// interrupted goes on from its checkpoint and ends with the same prior, bit for bit.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mixcert/core/parallel.h"
#include "mixcert/tune/tuner.h"

namespace mixcert {

struct TuneServices {
  std::function<void(const TuneStep&)> step;  ///< after every step; may be null
  const CancelFlag* cancel = nullptr;
};

struct TuneRun {
  Network network;
  std::vector<TuneStep> history;
  std::vector<Index> held_out;  ///< inputs that no step saw
  Index parameter_count = 0;
  double seconds = 0.0;  ///< of steps, earlier runs included
  bool resumed = false;
};

/// Throws InvalidArgument or Interrupted.
TuneRun tune(const TuneProblem& problem, const TuneOptions& options, const TuneServices& services = {});

struct TuneFiles {
  std::filesystem::path out;         ///< the prior, a model file
  std::filesystem::path checkpoint;  ///< empty: `out` with ".checkpoint" behind it
  bool restart = false;              ///< begin anew where a checkpoint exists
  double checkpoint_seconds = 30.0;
  std::map<std::string, std::string> metadata;  ///< for the prior's file
};

/// The same with files. The checkpoint is removed at the end. Throws FileError too, among others where the
/// checkpoint belongs to another run.
TuneRun tune(const TuneProblem& problem, const TuneOptions& options, const TuneFiles& files,
             const TuneServices& services = {});

}  // namespace mixcert
