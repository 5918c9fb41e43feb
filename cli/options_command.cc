// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert options: the option table as a Markdown page; docs/options.md is its output, and a
// test keeps the two equal.
#include <cstdio>

#include "command.h"
#include "mixcert/propagate/options.h"

namespace mixcert::cli {
namespace {

void print_table() {
  std::puts("# Options of certification\n");
  std::puts("Made by `mixcert options`. The names are the command line's; JSON and keyword arguments use");
  std::puts("underscores in place of dashes.\n");
  std::puts("| option | values | default | what it does |");
  std::puts("| --- | --- | --- | --- |");
  const Options defaults;
  for (const auto& field : option_table()) {
    std::string constraint = field.constraint;
    for (std::size_t at = 0; (at = constraint.find('|', at)) != std::string::npos; at += 2)
      constraint.insert(at, 1, '\\');
    const std::string value = field.get(defaults);
    std::printf("| `--%s` | %s | %s | %s |\n", field.name.c_str(), constraint.c_str(),
                value.empty() ? "not set" : value.c_str(), field.help.c_str());
  }
}

}  // namespace

void add_options_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("options", "the options of certification as a Markdown table");
  command->footer("Example:\n  mixcert options > docs/options.md");
  command->callback(print_table);
}

}  // namespace mixcert::cli
