// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Options that name a data set, shared by the commands.
#include "command.h"
#include "run_context.h"

namespace mixcert::lab {

void add_folder_option(CLI::App& command, DataRequest& request, const std::string& flag) {
  command
      .add_option_function<std::string>(
          flag, [&request](const std::string& folder) { request.folder = folder; },
          "folder of the data files")
      ->type_name("DIR")
      ->default_str("per-user cache");
}

void add_request_options(CLI::App& command, DataRequest& request) {
  cli::add_table_options(command, data_request_table(), request);
  cli::add_table_options(command, noisy_sines_table(), request.noisy_sines);
}

}  // namespace mixcert::lab
