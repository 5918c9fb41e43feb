// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert: the command line. Every error is one line on standard error; exit code 2 for what
// the caller can mend, 1 for what he cannot.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "command.h"
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
  app.set_version_flag("--version", std::string("mixcert ") + std::string(mixcert::version()));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Example:\n  mixcert certify net.safetensors --inputs x.csv --out result.npz\n"
      "Help on a command: mixcert certify --help");
  mixcert::cli::add_certify_command(app);
  mixcert::cli::add_sample_command(app);
  mixcert::cli::add_compare_command(app);
  mixcert::cli::add_inspect_command(app);
  mixcert::cli::add_options_command(app);
}

int run(int argc, char** argv) {
  CLI::App app("Gaussian mixtures with a proven 2-Wasserstein bound for stochastic neural networks.");
  build_parser(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return complain(std::string(error.what()) + " (see --help)", mixcert::cli::kUserError);
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
