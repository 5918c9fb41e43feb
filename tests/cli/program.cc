// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Child processes by posix_spawn.
#include "cli/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace mixcert::test {
namespace {

void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string("cannot run the program: ") + what);
}

/// Path of the writing end of a new pseudo-terminal; `reader` is its other end.
std::string open_terminal(int& reader) {
  reader = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  check(reader >= 0 && ::grantpt(reader) == 0 && ::unlockpt(reader) == 0, "pseudo-terminal");
  return ::ptsname(reader);
}

/// Everything until the last writer closes, which a pseudo-terminal reports as an error.
std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(descriptor, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

bool has_terminals() {
  const int reader = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (reader >= 0) ::close(reader);
  return reader >= 0;
}

Program::Program(const std::filesystem::path& directory, const std::vector<std::string>& arguments,
                 ErrorStream error_stream) {
  start(directory, arguments,
        error_stream == ErrorStream::Terminal ? open_terminal(terminal_) : (captured_ / "err").string());
}

namespace {

/// The leak sanitizer takes three seconds at the end of every process. It looks at the test itself and at the
/// first program that the test starts.
void leave_later_leaks_alone() {
  static const int once = [] {
    const char* const set = std::getenv("ASAN_OPTIONS");
    return setenv("ASAN_OPTIONS", ((set == nullptr ? "" : std::string(set) + ":") + "detect_leaks=0").c_str(),
                  1);
  }();
  (void)once;
}

}  // namespace

void Program::start(const std::filesystem::path& directory, const std::vector<std::string>& arguments,
                    const std::string& error_path) {
  std::vector<std::string> words = {"mixcert"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  check(posix_spawn_file_actions_init(&actions) == 0, "file actions");
  const std::string out = (captured_ / "out").string();
  const int mode = O_WRONLY | O_CREAT | O_NOCTTY;
  check(posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), mode, 0600) == 0, "standard output");
  check(posix_spawn_file_actions_addopen(&actions, 2, error_path.c_str(), mode, 0600) == 0, "standard error");
  check(posix_spawn_file_actions_addchdir_np(&actions, directory.c_str()) == 0, "directory");
  const int status = posix_spawn(&process_, MIXCERT_PROGRAM, &actions, nullptr, pointers.data(), environ);
  leave_later_leaks_alone();
  posix_spawn_file_actions_destroy(&actions);
  check(status == 0, MIXCERT_PROGRAM);
}

Program::~Program() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  if (terminal_ >= 0) ::close(terminal_);
}

void Program::send(int signal) const { ::kill(process_, signal); }

Finished Program::wait() {
  Finished result;
  if (terminal_ >= 0) result.err = read_all(terminal_);
  int status = 0;
  struct rusage usage {};
  check(::wait4(process_, &status, 0, &usage) == process_, "wait");
  process_ = -1;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.out = read_text(captured_ / "out");
  if (terminal_ < 0) result.err = read_text(captured_ / "err");
  result.peak_memory_in_kib = usage.ru_maxrss;
  return result;
}

std::map<std::string, std::string> snapshot(const std::filesystem::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    files[entry.path().string()] = entry.is_regular_file() ? read_text(entry.path()) : "";
  }
  return files;
}

std::string CommandLineTest::run_well(const std::vector<std::string>& arguments) const {
  const Finished finished = run(arguments);
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.err, "");
  return finished.out;
}

namespace {

/// Without the line that announces long work: it comes after a second, and a sanitizer makes a second of
/// little.
std::string without_announcement(const std::string& err) {
  return err.rfind("mixcert: about ", 0) == 0 ? err.substr(err.find('\n') + 1) : err;
}

}  // namespace

void CommandLineTest::expect_refusal(const std::vector<std::string>& arguments,
                                     const std::vector<std::string>& parts) const {
  const auto before = snapshot(directory_ / ".");
  const Finished finished = run(arguments);
  EXPECT_EQ(finished.exit_code, 2);
  const std::string err = without_announcement(finished.err);
  EXPECT_EQ(err.rfind("mixcert: ", 0), 0U) << err;
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  EXPECT_EQ(err.empty() ? '\0' : err.back(), '\n');
  for (const std::string& part : parts) EXPECT_CONTAINS(err, part);
  EXPECT_EQ(finished.out, "");
  EXPECT_TRUE(snapshot(directory_ / ".") == before) << "files were changed or left behind";
}

}  // namespace mixcert::test
