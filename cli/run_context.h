// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What several subcommands share: the command line as it was typed, flags made from an
// option table, files to read and files to write.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/files/atomic_file.h"
#include "mixcert/core/option_table.h"

namespace mixcert::cli {

/// Keeps argv as one shell-quoted line for the record; set once by main.
void record_command_line(int argc, const char* const* argv);
const std::string& command_line();

/// One flag per field of the table, with the table's names, help, defaults and checks. The
/// fields listed in `only` when given.
template <class Owner>
void add_table_options(CLI::App& app, const OptionTable<Owner>& table, Owner& owner,
                       const std::vector<std::string>& only = {}) {
  for (const OptionField<Owner>& field : table) {
    if (!only.empty() && std::find(only.begin(), only.end(), field.name) == only.end()) continue;
    const auto store = [&field, &owner](const std::string& text) { field.set(owner, text); };
    if (field.kind == OptionKind::Flag) {
      app.add_flag_callback(
             "--" + field.name, [store] { store("true"); }, field.help)
          ->disable_flag_override();  // --joint=3 would count as --joint
      continue;
    }
    CLI::Option* option = app.add_option_function<std::string>("--" + field.name, store, field.help);
    option->type_name(field.kind == OptionKind::Choice ? field.constraint : field.value_name);
    option->default_str(field.get(owner));
  }
}

/// The positional MODEL of commands that take one.
void add_model_option(CLI::App& command, std::string& model);

/// A file as an option names it; no path where the option was not given.
struct NamedFile {
  std::string option;
  std::optional<std::string> path;
};

/// Throws InvalidArgument where a file to be written is one of those read, or another one of
/// those written.
void check_outputs(const std::vector<NamedFile>& read, const std::vector<NamedFile>& written);

/// Null where there is no number.
nlohmann::ordered_json json_number(double value);

/// Puts the JSON in place.
void commit_json(AtomicFile& file, const nlohmann::ordered_json& json);

}  // namespace mixcert::cli
