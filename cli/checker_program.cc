// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "checker_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "mixcert/core/error.h"

namespace mixcert::cli {
namespace {

constexpr const char* kProgram = "mixcert-check";

/// The one beside this program; else whichever the path has.
std::string program_path() {
  std::error_code none;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", none);
  const std::filesystem::path beside = own.parent_path() / kProgram;
  return !none && std::filesystem::exists(beside, none) ? beside.string() : kProgram;
}

struct Outcome {
  int status = -1;
  std::string text;  ///< all that it printed, errors too
};

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t count = ::read(file, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

Outcome run(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  require(::pipe2(ends.data(), O_CLOEXEC) == 0, "mixcert-check: no pipe to read from it");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int failed = ::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  Outcome outcome;
  if (failed == 0) {
    outcome.text = read_all(ends[0]);
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  ::close(ends[0]);
  if (failed != 0) {
    throw Error("option --check: could not start " + words[0] + " (" +
                std::generic_category().message(failed) + "); ./run builds it");
  }
  return outcome;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t start = text.rfind('\n');
  return start == std::string::npos ? text : text.substr(start + 1);
}

}  // namespace

std::string checked_by_program(const std::string& model, const std::string& proof) {
  const std::string program = program_path();
  const Outcome outcome = run({program, model, proof});
  if (outcome.status != 0) throw Error("option --check: " + last_line(outcome.text));
  return last_line(run({program, "--version"}).text) + ": " + last_line(outcome.text);
}

}  // namespace mixcert::cli
