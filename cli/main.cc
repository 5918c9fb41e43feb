// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert: the command line. Every error is one line on standard error; exit code 2 for what
// the caller can mend, 1 for what he cannot.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "command.h"
#include "help_formatter.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"
#include "run_context.h"
#include "terminal.h"

namespace {

/// CLI11's messages can span lines and print numbers with hundreds of digits.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  constexpr std::size_t kLongest = 400;
  return text.size() > kLongest ? text.substr(0, kLongest) + ".." : text;
}

int complain(const std::string& message, int code) {
  std::fprintf(stderr, "mixcert: %s\n", one_line(message).c_str());
  return code;
}

void build_parser(CLI::App& app) {
  app.formatter(std::make_shared<mixcert::cli::HelpFormatter>());
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", std::string("mixcert ") + std::string(mixcert::version()),
                       "print the version");
  app.require_subcommand(1);
  app.footer(
      "Example:\n  mixcert certify net.safetensors --inputs x.csv --out result.npz\n"
      "Help on a command: mixcert certify --help");
  mixcert::cli::add_certify_command(app);
  mixcert::cli::add_sample_command(app);
  mixcert::cli::add_compare_command(app);
  mixcert::cli::add_inspect_command(app);
  mixcert::cli::add_options_command(app);
}

/// CLI11 calls a mistyped command a missing one, lists unexpected words backwards, and calls
/// `--joint=3` a disallowed flag override.
std::string parse_message(const CLI::App& app, const CLI::ParseError& error, const char* first_word) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && app.get_subcommands().empty()) {
    std::string known;
    for (const CLI::App* command : app.get_subcommands(nullptr)) {
      known += (known.empty() ? "" : "|") + command->get_name();
    }
    return "command: expected " + known + ", got " +
           (first_word == nullptr ? "none" : "'" + std::string(first_word) + "'");
  }
  const std::string what = error.what();
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

/// What was printed must have arrived. A reader that left early, as `head` does, is no error:
/// files are complete.
int close_output() {
  if (std::fflush(stdout) == 0 || errno == EPIPE) return 0;
  return complain("standard output: cannot be written", mixcert::cli::kUserError);
}

int run(int argc, char** argv) {
  CLI::App app("Gaussian mixtures with a proven 2-Wasserstein bound for stochastic neural networks.",
               "mixcert");
  build_parser(app);
  try {
    app.parse(argc, argv);
    return close_output();
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return complain(parse_message(app, error, argc > 1 ? argv[1] : nullptr) + " (see --help)",
                    mixcert::cli::kUserError);
  } catch (const mixcert::Interrupted&) {
    return complain("interrupted, nothing was written", mixcert::cli::kInterruptedExit);
  } catch (const mixcert::Error& error) {
    return complain(error.what(), mixcert::cli::kUserError);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", mixcert::cli::kUserError);
  } catch (const std::exception& error) {
    return complain(std::string("internal error: ") + error.what(), 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  mixcert::cli::record_command_line(argc, argv);
  mixcert::cli::install_signal_handlers();
  return run(argc, argv);
}
