// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// --help fits a screen of 44 lines by 100 columns and shows an example; docs/options.md is what
// `mixcert options` prints.
#include <map>
#include <sstream>

#include "cli/program.h"

namespace mixcert::test {
namespace help_test {

using Words = std::vector<std::string>;

class Help : public CommandLineTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(Help, FitsAScreenAndShowsAnExample) {
  const std::string command = GetParam();
  const std::string text = run_well(command.empty() ? Words{"--help"} : Words{command, "--help"});
  EXPECT_CONTAINS(text, "Usage: mixcert " + command);
  EXPECT_CONTAINS(text, "Example:\n  mixcert " + command);
  std::istringstream stream(text);
  int lines = 0;
  for (std::string line; std::getline(stream, line); ++lines) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_LE(lines, 44) << text;
}

INSTANTIATE_TEST_SUITE_P(Commands, Help,
                         ::testing::Values("", "certify", "sample", "compare", "answer", "explain", "inspect",
                                           "import", "options"));

using HelpPages = CommandLineTest;

TEST_F(HelpPages, EveryOptionOfTheTableIsInTheHelp) {
  const std::map<std::string, std::string> commands = {
      {"## Certification", "certify"},
      {"## Prior selection", "tune"},
      {"## Answers", "answer"},
      {"## Comparison of a prior with its target", "compare-prior"}};
  std::string help;
  std::istringstream page(run_well({"options"}));
  int options = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("## ", 0) == 0) help = run_well({commands.at(line), "--help"});
    if (line.rfind("| `--", 0) != 0) continue;
    ++options;
    EXPECT_CONTAINS(help, "  " + line.substr(3, line.find('`', 3) - 3));
  }
  EXPECT_GE(options, 30);
}

TEST_F(HelpPages, OptionsPageIsUpToDate) {
  EXPECT_EQ(run_well({"options"}), read_text(MIXCERT_SOURCE_DIRECTORY "/docs/options.md"))
      << "make it anew: mixcert options > docs/options.md";
}

TEST_F(HelpPages, TheoremsPageIsUpToDate) {
  EXPECT_EQ(run_well({"options", "--theorems"}),
            read_text(MIXCERT_SOURCE_DIRECTORY "/docs/theorems/table.md"))
      << "make it anew: mixcert options --theorems > docs/theorems/table.md";
}

TEST_F(HelpPages, Version) { EXPECT_EQ(run_well({"--version"}).rfind("mixcert ", 0), 0U); }

}  // namespace help_test
}  // namespace mixcert::test
