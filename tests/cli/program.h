// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Runs mixcert as a child process in a directory of the test and captures what it prints. Every
// test has a fresh directory; a snapshot of it shows whether a run left or changed anything.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/test_files.h"

namespace mixcert::test {

struct Finished {
  int exit_code = -1;  ///< -1 where a signal ended the program
  std::string out;
  std::string err;
  long peak_memory_in_kib = 0;
};

/// Where the program's standard error goes.
enum class ErrorStream { File, Terminal };

/// Can this machine open a pseudo-terminal?
bool has_terminals();

class Program {
 public:
  /// Starts `mixcert arguments...` in `directory`.
  Program(const std::filesystem::path& directory, const std::vector<std::string>& arguments,
          ErrorStream error_stream = ErrorStream::File);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal) const;
  Finished wait();

 private:
  void start(const std::filesystem::path& directory, const std::vector<std::string>& arguments,
             const std::string& error_path);

  TempDirectory captured_;
  int terminal_ = -1;  ///< the reading end of a pseudo-terminal
  pid_t process_ = -1;
};

/// Bytes of every file in the directory, hidden ones and subdirectories included.
std::map<std::string, std::string> snapshot(const std::filesystem::path& directory);

/// A directory and the program run in it.
class CommandLineTest : public ::testing::Test {
 protected:
  [[nodiscard]] Finished run(const std::vector<std::string>& arguments) const {
    return Program(directory_ / ".", arguments).wait();
  }
  /// Runs, and fails unless the program ends well and prints nothing on standard error.
  [[nodiscard]] std::string run_well(const std::vector<std::string>& arguments) const;
  /// Fails unless the program refuses: exit code 2, one line that names the `parts`, no
  /// result printed, no file touched or left.
  void expect_refusal(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) const;

  TempDirectory directory_;
};

}  // namespace mixcert::test
