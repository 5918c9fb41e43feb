// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert options: the option tables as a Markdown page; docs/options.md is its output, and a
// test keeps the two equal.
#include <cstdio>

#include "command.h"
#include "mixcert/answer/questions.h"
#include "mixcert/certificate/options.h"
#include "mixcert/statistics/prior_comparison.h"
#include "mixcert/tune/tune_options.h"

namespace mixcert::cli {
namespace {

template <class Owner>
void print_table(const char* title, const OptionTable<Owner>& table, const Owner& defaults) {
  std::printf("\n## %s\n\n", title);
  std::puts("| option | values | default | what it does |");
  std::puts("| --- | --- | --- | --- |");
  for (const auto& field : table) {
    std::string constraint = field.constraint;
    for (std::size_t at = 0; (at = constraint.find('|', at)) != std::string::npos; at += 2)
      constraint.insert(at, 1, '\\');
    const std::string value = field.get(defaults);
    std::printf("| `--%s` | %s | %s | %s |\n", field.name.c_str(), constraint.c_str(),
                value.empty() ? "not set" : value.c_str(), field.help.c_str());
  }
}

void print_tables() {
  std::puts("# Options\n");
  std::puts("Made by `mixcert options`. The names are the command line's; JSON and keyword arguments use");
  std::puts("underscores in place of dashes.");
  print_table("Certification", option_table(), Options{});
  print_table("Prior selection", tune_option_table(), TuneOptions{});
  print_table("Answers", answer_option_table(), AnswerOptions{});
  print_table("Comparison of a prior with its target", prior_comparison_table(), PriorComparisonOptions{});
}

}  // namespace

void add_options_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("options", "all options as Markdown tables");
  command->footer("Example:\n  mixcert options > docs/options.md");
  command->callback(print_tables);
}

}  // namespace mixcert::cli
