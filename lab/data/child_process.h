// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Other programs (npm, apt-get, tar, dpkg-deb), started without a shell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "mixcert/core/parallel.h"

namespace mixcert::lab {

/// Runs words[0], looked for on PATH, in `directory`; what it prints goes to the file `log`.
/// Throws FileError where it is not installed (naming `package`, which has it) or fails (with what
/// it printed, as one line), Interrupted where `cancel` was set; the program is then ended.
void run_child(const std::vector<std::string>& words, const std::string& package,
               const std::filesystem::path& directory, const std::filesystem::path& log,
               const CancelFlag* cancel);

}  // namespace mixcert::lab
