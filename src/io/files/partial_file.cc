// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Partial files of this process, and those that others have left (POSIX).
#include "io/files/partial_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "io/files/file_error.h"

namespace mixcert::io {
namespace {

namespace fs = std::filesystem;

// Names in memory that is never freed, so that a handler can read them at any time.

struct Slot {
  enum State { Free, Changing, Ready };
  std::atomic<int> state{Free};
  std::array<char, 4096> path{};
};

std::array<Slot, 16>& slots() {
  static std::array<Slot, 16> all;
  return all;
}

/// By name alone: a folder has many spellings, and numbers are not given twice.
bool is_remembered(const std::string& name) {
  return std::any_of(slots().begin(), slots().end(), [&](const Slot& slot) {
    return slot.state.load() == Slot::Ready && fs::path(slot.path.data()).filename() == name;
  });
}

/// ".NAME.partial-"; appended piece by piece: g++ 12 warns falsely of overlap in "." + string.
std::string stem_of(const fs::path& target) {
  std::string stem(1, '.');
  stem.append(target.filename().string()).append(".partial-");
  return stem;
}

/// A name of a partial file, or of a library's file beside it.
struct Leftover {
  int process = 0;
  std::string main;  ///< the partial file's own name
};

std::optional<Leftover> leftover_of(const std::string& name, const std::string& stem) {
  if (!name.starts_with(stem)) return std::nullopt;
  const char* const last = name.data() + name.size();
  Leftover found;
  const auto [dash, failed] = std::from_chars(name.data() + stem.size(), last, found.process);
  if (failed != std::errc() || dash == last || *dash != '-' || found.process <= 0) return std::nullopt;
  std::uint64_t unique = 0;
  const auto [end, wrong] = std::from_chars(dash + 1, last, unique);
  if (wrong != std::errc() || (end != last && *end != '.')) return std::nullopt;
  found.main.assign(name.data(), end);
  return found;
}

/// Removes the files of one writer unless somebody writes them: whoever has locked the first, or the process
/// that its name tells. They are locked while they are removed, so that a writer that locks late finds them
/// gone.
void remove_unless_used(const fs::path& main, int process, const std::vector<fs::path>& files) {
  if (process == ::getpid()) {
    if (is_remembered(main.filename().string())) return;
  } else if (::kill(process, 0) == 0 || errno == EPERM) {
    return;
  }
  const int descriptor = ::open(main.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0 && errno != ENOENT) return;
  struct stat opened {
  }, named{};
  const bool unused =
      descriptor < 0 || (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &opened) == 0 &&
                         ::stat(main.c_str(), &named) == 0 && opened.st_ino == named.st_ino);
  if (unused) {
    for (const fs::path& path : files) ::unlink(path.c_str());
  }
  if (descriptor >= 0) ::close(descriptor);
}

void remove_leftovers(const fs::path& target) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const std::string stem = stem_of(target);
  std::map<std::string, std::pair<int, std::vector<fs::path>>> found;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::optional<Leftover> one = leftover_of(entry->path().filename().string(), stem);
    if (!one) continue;
    found[one->main].first = one->process;
    found[one->main].second.push_back(entry->path());
  }
  for (const auto& [main, files] : found) remove_unless_used(folder / main, files.first, files.second);
}

/// Is the file that was opened still the one of this name? Another process may have taken it for a leftover
/// before it was locked.
bool is_named(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

}  // namespace

void remember_partial_file(const fs::path& path) {
  const std::string name = path.string();
  for (Slot& slot : slots()) {
    int expected = Slot::Free;
    if (name.size() >= slot.path.size() || !slot.state.compare_exchange_strong(expected, Slot::Changing))
      continue;
    std::memcpy(slot.path.data(), name.c_str(), name.size() + 1);
    slot.state.store(Slot::Ready);
    return;
  }
}

PartialFile create_partial_file(const fs::path& target) {
  static std::atomic<std::uint64_t> unique{0};
  if (!target.has_filename()) bad_file(target.string(), "output", "a file name", "a directory");
  remove_leftovers(target);
  const std::string stem = stem_of(target).append(std::to_string(::getpid())).append("-");
  for (;;) {
    fs::path path = target.parent_path() / (stem + std::to_string(unique++));
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) system_failure(target.string(), "create a file beside it", errno);
    remember_partial_file(path);
    // File systems without locks have none of these leftovers removed while a process runs, by its number.
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
      if (is_named(descriptor)) return {descriptor, std::move(path)};
    }
    forget_partial_file(path);
    ::close(descriptor);
  }
}

void forget_partial_file(const fs::path& path) {
  const std::string name = path.string();
  for (Slot& slot : slots()) {
    if (slot.state.load() != Slot::Ready || name != slot.path.data()) continue;
    int expected = Slot::Ready;
    if (slot.state.compare_exchange_strong(expected, Slot::Free)) return;
  }
}

void remove_partial_files() noexcept {
  for (const Slot& slot : slots()) {
    if (slot.state.load() == Slot::Ready) ::unlink(slot.path.data());
  }
}

}  // namespace mixcert::io
