// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How mixcert hands `data` and `train` over to mixcert-lab. A copy of the program in a folder of its
// own meets a script of that name, or none.
#include <cstdlib>

#include "io/test_files.h"

namespace mixcert::test {
namespace lab_command_test {

namespace fs = std::filesystem;

class HandOver : public ::testing::TestWithParam<std::string> {
 protected:
  HandOver() {
    fs::create_directories(folder_ / "here");
    fs::create_directories(folder_ / "on path");
    fs::copy_file(MIXCERT_PROGRAM, folder_ / "here/mixcert");
  }

  void put_lab(const std::string& where, const std::string& script) const {
    const fs::path program = folder_ / where;
    write_text(program, "#!/bin/sh\n" + script + "\n");
    fs::permissions(program, fs::perms::owner_all);
  }
  /// Exit code; output in the files out and err.
  [[nodiscard]] int run(const std::string& arguments) const {
    const std::string command = "cd '" + (folder_ / ".").string() + "' && PATH='" +
                                (folder_ / "on path").string() + "' ./here/mixcert " + arguments +
                                " > out 2> err";
    return WEXITSTATUS(std::system(command.c_str()));
  }

  TempDirectory folder_;
};

TEST_P(HandOver, WithoutTheLabOneLineSaysHowToBuildIt) {
  EXPECT_EQ(run(GetParam() + " --help"), 2);
  EXPECT_EQ(read_text(folder_ / "err"), "mixcert: " + GetParam() +
                                            ": mixcert-lab is not built; build it with ./run --lab or cmake "
                                            "-DMIXCERT_BUILD_LAB=ON\n");
  EXPECT_EQ(read_text(folder_ / "out"), "");
}

TEST_P(HandOver, TheLabBesideTheProgramGetsEveryArgumentAndGivesItsExitCode) {
  put_lab("here/mixcert-lab", "echo \"beside:$#:$1:$2:$3\"; exit 42");
  put_lab("on path/mixcert-lab", "exit 1");
  EXPECT_EQ(run(GetParam() + " --help 'two words'"), 42);
  EXPECT_EQ(read_text(folder_ / "out"), "beside:3:" + GetParam() + ":--help:two words\n");
}

TEST_P(HandOver, TheLabOnPathIsTheSecondChoice) {
  put_lab("on path/mixcert-lab", "echo \"on path:$1\"");
  EXPECT_EQ(run(GetParam()), 0);
  EXPECT_EQ(read_text(folder_ / "out"), "on path:" + GetParam() + "\n");
}

TEST_P(HandOver, ALabThatCannotStartIsSaidInOneLine) {
  write_text(folder_ / "here/mixcert-lab", "no program");
  EXPECT_EQ(run(GetParam()), 2);
  EXPECT_CONTAINS(read_text(folder_ / "err"), "mixcert: " + GetParam() + ": cannot start mixcert-lab: ");
}

TEST_P(HandOver, IsInTheHelp) {
  EXPECT_EQ(run("--help"), 0);
  EXPECT_CONTAINS(read_text(folder_ / "out"), "\n  " + GetParam() + " ");
}

INSTANTIATE_TEST_SUITE_P(Commands, HandOver, ::testing::Values("data", "train", "untrained", "gp", "hmc"));

}  // namespace lab_command_test
}  // namespace mixcert::test
