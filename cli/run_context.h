// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What several subcommands share: the command line as it was typed, flags made from an
// option table, and writing a JSON file in one piece.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

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
          "--" + field.name, [store] { store("true"); }, field.help);
      continue;
    }
    CLI::Option* option = app.add_option_function<std::string>("--" + field.name, store, field.help);
    option->type_name(field.kind == OptionKind::Choice ? field.constraint : field.value_name);
    option->default_str(field.get(owner));
  }
}

/// Writes beside and renames. Throws FileError.
void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& json);

}  // namespace mixcert::cli
