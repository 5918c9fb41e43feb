// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Parsing and errors of the programs.
#include "frame.h"

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
#include "help_formatter.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"

namespace mixcert::cli {
namespace {

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
