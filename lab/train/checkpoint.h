// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The whole state of a training in one safetensors file that is replaced atomically. A checkpoint
// says to which options and data it belongs; another training is refused, not continued.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "train/learner.h"

namespace mixcert::lab {

struct Checkpoint {
  std::map<std::string, std::string> identity;  ///< options and data, as text
  State state;
};

/// Throws FileError where the file cannot be written.
void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Nothing where there is no file. Throws FileError where it is no checkpoint, or where its identity
/// differs from the wanted one, naming the first entry that does.
std::optional<State> read_checkpoint(const std::filesystem::path& path,
                                     const std::map<std::string, std::string>& identity);

/// Removes the checkpoint and what killed programs left beside it.
void remove_checkpoint(const std::filesystem::path& path);
/// Removes unfinished files NAME.partial-PID-.. of programs that are no longer there.
void remove_abandoned_partials(const std::filesystem::path& path);

/// 16 hexadecimal digits that depend on every number of the data set.
std::string fingerprint(const Dataset& data);

/// Entries of a state whose names begin with `prefix`, without it; and the reverse.
State with_prefix(const std::string& prefix, const State& state);
State without_prefix(const std::string& prefix, const State& state);

}  // namespace mixcert::lab
