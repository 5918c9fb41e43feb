// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert options: the option tables as a Markdown page, and with --theorems the table of theorems;
// docs/options.md and docs/theorems/table.md are its output, and a test keeps them equal.
#include <cstdio>
#include <memory>

#include "command.h"
#include "mixcert/answer/questions.h"
#include "mixcert/certificate/options.h"
#include "mixcert/statistics/prior_comparison.h"
#include "mixcert/tune/tune_options.h"
#include "theorems/theorem_table.h"

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

void print_theorems() {
  std::puts("# Table of theorems\n");
  std::puts(
      "Made by `mixcert options --theorems`. Theorems that may bound a local term of the moment method, in "
      "the");
  std::puts(
      "order in which they are tried, with what each needs of the network and its layer. Where only the "
      "theorem's");
  std::puts("own computation can tell, it gives no bound where the sentence is false.");
  for (const Theorem& one : theorem_table()) {
    std::printf("\n## %s (%s)\n\n[Proof](../theory/%s)\n\n", one.name, one.id, one.page);
    if (one.preconditions.empty()) std::puts("- nothing");
    for (const Precondition& needed : one.preconditions)
      std::printf("- %s%s\n", needed.sentence, needed.holds != nullptr ? "" : " (the computation tells)");
  }
}

}  // namespace

void add_options_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("options", "all options as Markdown tables");
  const auto theorems = std::make_shared<bool>(false);
  command->add_flag("--theorems", *theorems, "the table of theorems instead");
  command->footer("Example:\n  mixcert options > docs/options.md");
  command->callback([theorems] { *theorems ? print_theorems() : print_tables(); });
}

}  // namespace mixcert::cli
