// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert reproduce: the paper's tables and figures made again, ours beside them, as files and one page.
#include <cstdio>
#include <memory>
#include <string>

#include "command.h"
#include "reproduce/run.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::lab {
namespace {

struct ReproduceArguments {
  std::string name;
  std::string out;       // "": depends on the form
  std::string networks;  // likewise
  std::string data;
  bool no_training = false;
  ReproduceOptions options;
};

const OptionTable<ReproduceOptions>& reproduce_table() {
  static const OptionTable<ReproduceOptions> table = {
      integer_option<ReproduceOptions, std::uint64_t>("seed", &ReproduceOptions::seed, 0,
                                                      ~std::uint64_t{0} >> 1U, "seed of points and samples"),
      integer_option<ReproduceOptions, int>("threads", &ReproduceOptions::threads, 0, 1024,
                                            "threads; 0: one per processor"),
      flag_option<ReproduceOptions>("quick", &ReproduceOptions::quick,
                                    "small networks, few points and samples: shows that everything runs"),
      flag_option<ReproduceOptions>("restart", &ReproduceOptions::restart,
                                    "make anew what an earlier run has finished"),
  };
  return table;
}

/// Lines of at most a screen's width.
std::string names_text() {
  constexpr std::size_t kWidth = 96;
  std::string text = "Names: all";
  std::size_t begin = 0;
  for (const Experiment& experiment : experiments()) {
    text += ",";
    if (text.size() - begin + experiment.name.size() > kWidth) {
      begin = text.size() + 1;
      text += "\n ";
    }
    text += " " + std::string(experiment.name);
  }
  return text + " (docs/reproduction.md)";
}

void run_reproduce(const ReproduceArguments& arguments) {
  const auto wanted = find_experiments(arguments.name);
  Context context;
  context.options = arguments.options;
  context.options.train = !arguments.no_training;
  const bool quick = context.options.quick;
  context.options.out = !arguments.out.empty() ? arguments.out
                        : quick                ? "out/reproduce-quick"
                                               : "out/reproduce";
  context.options.networks = !arguments.networks.empty() ? std::filesystem::path(arguments.networks)
                             : quick                     ? context.options.out / "networks"
                                                         : std::filesystem::path("out/networks");
  context.options.data = arguments.data;
  context.cancel = &cli::cancel_flag();
  context.report = [](const std::string& line) {
    (void)std::printf("%s\n", line.c_str());
    (void)std::fflush(stdout);
  };
  const ReproduceSummary summary = reproduce(wanted, context);
  for (const std::string& name : summary.kept) (void)std::printf("kept %s\n", name.c_str());
  (void)std::printf("wrote %s\nwall time %.1f s, with what earlier runs have finished %.1f s\n",
                    (context.options.out / "index.html").c_str(), summary.seconds, summary.whole_seconds);
}

}  // namespace

void add_reproduce_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("reproduce", "the paper's tables and figures, and ours beside them");
  auto arguments = std::make_shared<ReproduceArguments>();
  command->add_option("NAME", arguments->name, "which one, or all")->required()->type_name("");
  command->add_option("--out", arguments->out, "folder for tables and drawings")
      ->type_name("DIR")
      ->default_str("out/reproduce, quick: out/reproduce-quick");
  command->add_option("--networks", arguments->networks, "networks; missing ones are trained")
      ->type_name("DIR")
      ->default_str("out/networks, quick: OUT/networks");
  command->add_option("--data", arguments->data, "folder of the data files")
      ->type_name("DIR")
      ->default_str("per-user cache");
  command->add_flag("--no-training", arguments->no_training, "leave rows of missing networks out");
  cli::add_table_options(*command, reproduce_table(), arguments->options);
  command->footer("Example:\n  mixcert reproduce all --quick\n" + names_text());
  command->callback([arguments] { run_reproduce(*arguments); });
}

}  // namespace mixcert::lab
