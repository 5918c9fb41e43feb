// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The subcommands. Each registers itself on the parser; the callback runs after parsing.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mixcert::cli {

void add_certify_command(CLI::App& app);
void add_sample_command(CLI::App& app);
void add_compare_command(CLI::App& app);
void add_answer_command(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_import_command(CLI::App& app);
void add_inspect_command(CLI::App& app);
void add_tune_command(CLI::App& app);
void add_compare_prior_command(CLI::App& app);
void add_options_command(CLI::App& app);

/// The commands of the separate program mixcert-lab, for the list in --help only: main hands them
/// over with all their arguments before parsing.
void add_lab_commands(CLI::App& app);
bool is_lab_command(const std::string& word);
/// Becomes mixcert-lab, found beside this program or on PATH. Returns only where that failed: says
/// so in one line and gives the exit code.
int hand_over_to_lab(char** argv);

/// Exit code of a run that was asked to do something it cannot do.
inline constexpr int kUserError = 2;
/// Exit code of an interrupted run, as shells have it for SIGINT.
inline constexpr int kInterruptedExit = 130;

}  // namespace mixcert::cli
