// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The state of a prior selection on disk: a safetensors file whose metadata say which run it belongs to.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mixcert/tune/tune.h"

namespace mixcert {

struct TuneProgress {
  TuneState state;
  std::vector<TuneStep> history;
  double seconds = 0.0;
};

/// Written beside and renamed.
void write_tune_checkpoint(const std::filesystem::path& path,
                           const std::map<std::string, std::string>& identity, const TuneProgress& progress);

/// Nothing where there is no file. Throws FileError where it is none of ours or belongs to another run.
std::optional<TuneProgress> read_tune_checkpoint(const std::filesystem::path& path,
                                                 const std::map<std::string, std::string>& identity);

}  // namespace mixcert
