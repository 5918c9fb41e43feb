// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The text of --help.
#include "help_formatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace mixcert::cli {
namespace {

struct HelpLine {
  std::string argument;
  std::string meaning;
};

std::string argument_of(const CLI::Option& option) {
  if (option.get_positional())
    return option.get_name(true) + (option.get_items_expected_max() > 1 ? ".." : "");
  const std::string type = option.get_type_name();
  return option.get_name(false, true) + (type.empty() ? "" : " " + type);
}

std::string meaning_of(const CLI::Option& option) {
  const std::string& value = option.get_default_str();
  return option.get_description() + (value.empty() ? "" : " [" + value + "]");
}

std::string usage_of(const CLI::App& app) {
  std::string text = app.get_name();
  for (const CLI::App* above = app.get_parent(); above != nullptr; above = above->get_parent()) {
    text.insert(0, above->get_name() + " ");
  }
  text = "Usage: " + text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_required()) text += " " + argument_of(*option);
  }
  return text + (app.get_subcommands(nullptr).empty() ? " [options]" : " COMMAND");
}

/// Commands, then arguments as they were added; --help and --version, which are not worth the
/// first line, at the end.
std::vector<HelpLine> lines_of(const CLI::App& app) {
  std::vector<HelpLine> lines;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    lines.push_back({command->get_name(), command->get_description()});
  }
  const auto is_minor = [&app](const CLI::Option* option) {
    return option == app.get_help_ptr() || option == app.get_version_ptr();
  };
  for (const bool minor : {false, true}) {
    for (const CLI::Option* option : app.get_options()) {
      if (is_minor(option) == minor) lines.push_back({argument_of(*option), meaning_of(*option)});
    }
  }
  return lines;
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  std::vector<HelpLine> lines = lines_of(*app);
  std::size_t width = 0;
  for (const HelpLine& line : lines) width = std::max(width, line.argument.size());
  // Blank lines only where all fits a screen of 24 lines with them; a longer page has its description beside
  // the usage and leaves out the line of --help, which the reader has found.
  constexpr std::size_t kScreen = 24;
  const char* const gap = lines.size() + 6 <= kScreen ? "\n" : "";
  const bool tight = lines.size() + 4 > kScreen;
  if (tight) lines.pop_back();
  std::string text = usage_of(*app) + (tight ? ": " : "\n") + app->get_description() + "\n" + gap;
  for (const HelpLine& line : lines) {
    text += fmt::format("  {:<{}}  {}\n", line.argument, width, line.meaning);
  }
  return text + gap + app->get_footer() + "\n";
}

}  // namespace mixcert::cli
