// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The subcommands of mixcert-lab, and the options that name a data set.
#pragma once

#include <CLI/CLI.hpp>

#include "data/load.h"

namespace mixcert::lab {

void add_data_command(CLI::App& app);
void add_train_command(CLI::App& app);
void add_untrained_command(CLI::App& app);
void add_gp_command(CLI::App& app);
void add_prior_commands(CLI::App& app);
void add_hmc_command(CLI::App& app);
void add_reproduce_command(CLI::App& app);

/// The folder of the data files under the given flag, by default the per-user cache.
void add_folder_option(CLI::App& command, DataRequest& request, const std::string& flag = "--data");
/// --split-index and the options of NoisySines. `request` must outlive the parser.
void add_request_options(CLI::App& command, DataRequest& request);

}  // namespace mixcert::lab
