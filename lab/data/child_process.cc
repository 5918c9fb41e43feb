// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Child processes by posix_spawn, each in a process group of its own, so that an interruption ends
// the whole group.
#include "data/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <system_error>
#include <thread>

#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace {

constexpr std::chrono::milliseconds kPollInterval(20);
constexpr std::size_t kLongestComplaint = 240;

/// Owner of the two descriptions that posix_spawn wants.
class SpawnSettings {
 public:
  SpawnSettings(const std::filesystem::path& directory, const std::filesystem::path& log) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str());
    // This program ignores SIGPIPE; a child that inherited that would not end with its reader.
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  /// 0 or an error number.
  int spawn(pid_t& process, std::vector<char*>& arguments) const {
    return posix_spawnp(&process, arguments[0], &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

pid_t start(const std::vector<std::string>& words, const std::string& package,
            const SpawnSettings& settings) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = -1;
  const int reason = settings.spawn(process, arguments);
  if (reason == ENOENT) {
    throw FileError(words[0] + ": not installed; install the package " + package +
                    ", or give the files with --from");
  }
  if (reason != 0)
    throw FileError(words[0] + ": cannot start it: " + std::generic_category().message(reason));
  return process;
}

/// The status as waitpid gives it.
int wait_for(pid_t process, const std::string& program, const CancelFlag* cancel) {
  for (int status = 0;;) {
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process) return status;
    if (ended < 0 && errno != EINTR) throw FileError(program + ": cannot wait for it");
    if (cancel != nullptr && cancel->load()) {
      ::kill(-process, SIGKILL);
      ::waitpid(process, &status, 0);
      throw Interrupted(program + ": interrupted");
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

/// Lines of the log joined to one, unprintable bytes as blanks.
std::string complaint_of(const std::filesystem::path& log) {
  std::ifstream stream(log);
  std::string text;
  for (std::string line; text.size() < kLongestComplaint && std::getline(stream, line);) {
    for (char& c : line) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = ' ';
    }
    if (line.find_first_not_of(' ') != std::string::npos) text += (text.empty() ? "" : "; ") + line;
  }
  return text.substr(0, kLongestComplaint);
}

}  // namespace

void run_child(const std::vector<std::string>& words, const std::string& package,
               const std::filesystem::path& directory, const std::filesystem::path& log,
               const CancelFlag* cancel) {
  const SpawnSettings settings(directory, log);
  const pid_t process = start(words, package, settings);
  const int status = wait_for(process, words[0], cancel);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string how = WIFEXITED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                                            : "signal " + std::to_string(WTERMSIG(status));
  throw FileError(words[0] + " failed with " + how + ": " + complaint_of(log));
}

}  // namespace mixcert::lab
