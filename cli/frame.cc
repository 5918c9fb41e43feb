// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Parsing, help and errors of the programs.
#include "frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "command.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"

namespace mixcert::cli {
namespace {

// Layout of --help: usage, one line per argument, an example; a screen of 24 lines by 100 columns holds it.
// CLI11's own layout breaks a line for every list of choices.

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

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::vector<HelpLine> lines = lines_of(*app);
    std::size_t width = 0;
    for (const HelpLine& line : lines) width = std::max(width, line.argument.size());
    // Blank lines only where all fits a screen of 24 lines with them; a longer page has its description
    // beside the usage and leaves out the line of --help, which the reader has found.
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
};

/// CLI11's messages can span lines and print numbers with hundreds of digits.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  constexpr std::size_t kLongest = 400;
  return text.size() > kLongest ? text.substr(0, kLongest) + ".." : text;
}

/// CLI11 calls a mistyped command a missing one, lists unexpected words backwards, and calls
/// `--joint=3` a disallowed flag override.
std::string parse_message(const CLI::App& app, const CLI::ParseError& error, char** argv) {
  const CLI::App* chosen = &app;
  char** next = argv[0] == nullptr ? argv : argv + 1;  // the one after those of the chosen command
  for (; !chosen->get_subcommands().empty(); ++next) chosen = chosen->get_subcommands().front();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
      !chosen->get_subcommands(nullptr).empty()) {
    std::string known;
    for (const CLI::App* command : chosen->get_subcommands(nullptr)) {
      known += (known.empty() ? "" : "|") + command->get_name();
    }
    return "command: expected " + known + ", got " +
           (*next == nullptr ? "none" : "'" + std::string(*next) + "'");
  }
  std::string what = error.what();
  if (const auto at = what.find(" was given a disallowed flag override"); at != std::string::npos) {
    return "option --" + what.substr(0, at) + " takes no value";
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return what;
  const std::vector<std::string> words = app.remaining(true);
  const auto option =
      std::find_if(words.begin(), words.end(), [](const auto& word) { return word[0] == '-'; });
  if (words.empty()) return what;
  return option != words.end() ? "unknown option " + *option : "unexpected argument '" + words.front() + "'";
}

}  // namespace

namespace {

std::function<void(const std::string&)>& complaint_keeper() {
  static std::function<void(const std::string&)> keeper;
  return keeper;
}

}  // namespace

void keep_complaints(std::function<void(const std::string&)> keeper) {
  complaint_keeper() = std::move(keeper);
}

std::string beside_this_program(const std::string& name) {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? std::string() : (self.parent_path() / name).string();
}

int complain(const std::string& message, int code) {
  if (complaint_keeper()) {
    complaint_keeper()(one_line(message));
    return code;
  }
  std::fprintf(stderr, "mixcert: %s\n", one_line(message).c_str());
  return code;
}

void prepare_parser(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", std::string("mixcert ") + std::string(version()), "print the version");
  app.require_subcommand(1);
}

namespace {

/// What was printed must have arrived. A reader that left early, as `head` does, is no error:
/// files are complete.
int close_output() {
  if (std::fflush(stdout) == 0 || errno == EPIPE) return 0;
  return complain("standard output: cannot be written", kUserError);
}

}  // namespace

int run_program(CLI::App& app, int argc, char** argv, const std::string& interruption) {
  try {
    app.parse(argc, argv);
    return close_output();
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return complain(parse_message(app, error, argv) + " (see --help)", kUserError);
  } catch (const Interrupted& error) {
    // A command that kept something says so itself.
    const std::string said = error.what();
    return complain(said == "interrupted" ? interruption : said, kInterruptedExit);
  } catch (const Error& error) {
    return complain(error.what(), kUserError);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", kUserError);
  } catch (const std::exception& error) {
    return complain(std::string("internal error: ") + error.what(), 1);
  }
}

}  // namespace mixcert::cli
