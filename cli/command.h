// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The subcommands. Each registers itself on the parser; the callback runs after parsing.
#pragma once

#include <CLI/CLI.hpp>

namespace mixcert::cli {

void add_certify_command(CLI::App& app);
void add_sample_command(CLI::App& app);
void add_compare_command(CLI::App& app);
void add_inspect_command(CLI::App& app);
void add_options_command(CLI::App& app);

/// Exit code of a run that was asked to do something it cannot do.
inline constexpr int kUserError = 2;
/// Exit code of an interrupted run, as shells have it for SIGINT.
inline constexpr int kInterruptedExit = 130;

}  // namespace mixcert::cli
