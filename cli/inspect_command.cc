// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert inspect: what a model file holds.
#include <cstdio>
#include <memory>
#include <string>

#include "command.h"
#include "io/files/byte_source.h"
#include "mixcert/io/model_file.h"
#include "report/terminal/text_report.h"
#include "run_context.h"

namespace mixcert::cli {

void add_inspect_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("inspect", "layers, parameter counts, Lipschitz constants and gains");
  auto model = std::make_shared<std::string>();
  add_model_option(*command, *model);
  command->footer("Example:\n  mixcert inspect net.safetensors");
  command->callback([model] {
    const std::string text = inspect_text(load_layers(*model), load_ensemble(*model));
    std::printf("%s\nsha256 %s\n\n%s", model->c_str(), sha256_of_file(*model).c_str(), text.c_str());
    for (const std::string& assumption : load_assumptions(*model))
      std::printf("assumes: %s\n", assumption.c_str());
  });
}

}  // namespace mixcert::cli
