// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert untrained: a convolutional network with random means as a model file.
#include <cstdio>
#include <memory>
#include <string>

#include "command.h"
#include "mixcert/io/model_file.h"
#include "run_context.h"
#include "train/untrained.h"

namespace mixcert::lab {
namespace {

struct UntrainedArguments {
  UntrainedOptions options;
  std::string out;
};

void run_untrained(const UntrainedArguments& arguments) {
  cli::check_outputs({}, {{"--out", arguments.out}});
  nlohmann::ordered_json chosen;
  for (const auto& field : untrained_option_table()) chosen[field.name] = field.get(arguments.options);
  save_layers(arguments.out, untrained_layers(arguments.options), {{"untrained", chosen.dump()}});
  std::printf("wrote %s\n", arguments.out.c_str());
}

}  // namespace

void add_untrained_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("untrained", "a convolutional network with random means");
  auto arguments = std::make_shared<UntrainedArguments>();
  cli::add_table_options(*command, untrained_option_table(), arguments->options);
  command->add_option("--out", arguments->out, "model file to write")->type_name("FILE")->required();
  command->footer(
      "Example:\n  mixcert untrained --network resnet20 --deviation 0.02 --out resnet20.safetensors\n"
      "What the layers are: docs/training.md");
  command->callback([arguments] { run_untrained(*arguments); });
}

}  // namespace mixcert::lab
