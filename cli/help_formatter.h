// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layout of --help: usage, one line per argument, an example; a screen of 24 lines by 100
// columns holds it. CLI11's own layout breaks a line for every list of choices.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mixcert::cli {

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace mixcert::cli
