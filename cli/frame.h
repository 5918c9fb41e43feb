// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What surrounds the subcommands of every program here. Every error is one line on standard
// error; exit code 2 for what the caller can mend, 1 for what he cannot.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace mixcert::cli {

/// Help, version, and that one subcommand is needed.
void prepare_parser(CLI::App& app);

/// Parses and runs the chosen subcommand; the exit code. `interruption` is what an interrupted run
/// says.
int run_program(CLI::App& app, int argc, char** argv,
                const std::string& interruption = "interrupted, nothing was written");

/// Prints the message as one line and gives the code back.
int complain(const std::string& message, int code);
/// From now on complaints go there instead: to whoever speaks for this process.
void keep_complaints(std::function<void(const std::string&)> keeper);

/// The file of this name in the folder of the running program; empty where the system does not tell that.
std::string beside_this_program(const std::string& name);

}  // namespace mixcert::cli
