// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Write beside and rename, and nameless temporary files of doubles (POSIX).
#include "io/files/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "io/files/file_error.h"
#include "io/files/partial_file.h"
#include "mixcert/core/error.h"

namespace mixcert {

namespace fs = std::filesystem;
namespace {

fs::path resolve_target(const fs::path& target) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (!fs::exists(status)) return target;
  if (!fs::is_regular_file(status)) {
    io::bad_file(target.string(), "output", "a regular file or none yet", "something else of that name");
  }
  const fs::path resolved = fs::canonical(target, error);
  return error ? target : resolved;
}

/// The rename itself lasts only once the directory is on the disk. Some file systems
/// cannot do that for directories; the file is whole either way.
void sync_directory(const fs::path& directory) {
  const int descriptor = ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& target) : target_(resolve_target(target)) {
  const io::PartialFile partial = io::create_partial_file(target_);
  written_ = partial_ = partial.path;
  stream_ = ::fdopen(partial.descriptor, "wb");
  if (stream_ == nullptr) {
    const int reason = errno;
    ::close(partial.descriptor);
    ::unlink(partial_.c_str());
    io::forget_partial_file(partial_);
    io::system_failure(target_.string(), "open a stream", reason);
  }
}

AtomicFile::~AtomicFile() {
  if (stream_ != nullptr) (void)std::fclose(stream_);
  if (committed_) return;
  if (written_ != partial_) {
    ::unlink(written_.c_str());
    io::forget_partial_file(written_);
  }
  ::unlink(partial_.c_str());
  io::forget_partial_file(partial_);
  if (lock_ >= 0) ::close(lock_);
}

const fs::path& AtomicFile::for_library() {
  written_ = partial_.string() + ".zip";
  io::remember_partial_file(written_);
  return written_;
}

void AtomicFile::write(const void* data, std::size_t size) {
  require(stream_ != nullptr, "AtomicFile::write: " + target_.string() + " was flushed already");
  if (std::fwrite(data, 1, size, stream_) != size) io::system_failure(target_.string(), "write", errno);
}

void AtomicFile::flush_to_disk() {
  if (stream_ == nullptr) return;
  // A copy of the descriptor keeps the lock until the file has its name.
  lock_ = ::fcntl(::fileno(stream_), F_DUPFD_CLOEXEC, 0);
  const int failed = std::fclose(stream_);
  stream_ = nullptr;
  if (failed != 0) io::system_failure(target_.string(), "write", errno);
  const int descriptor = ::open(written_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) io::system_failure(target_.string(), "reopen", errno);
  const int reason = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (reason != 0) io::system_failure(target_.string(), "write to disk", reason);
}

void AtomicFile::commit() {
  require(!committed_, "AtomicFile::commit: " + target_.string() + " was committed already");
  flush_to_disk();
  if (::rename(written_.c_str(), target_.c_str()) != 0) {
    io::system_failure(target_.string(), "rename to it", errno);
  }
  committed_ = true;
  if (written_ != partial_) {
    ::unlink(partial_.c_str());
    io::forget_partial_file(written_);
  }
  ::close(std::exchange(lock_, -1));
  io::forget_partial_file(partial_);
  sync_directory(target_.parent_path());
}

}  // namespace mixcert

namespace mixcert::io {

SpillFile::SpillFile(const std::filesystem::path& target) : label_(target.string()) {
  const PartialFile partial = create_partial_file(target);
  ::unlink(partial.path.c_str());
  forget_partial_file(partial.path);
  stream_ = ::fdopen(partial.descriptor, "w+b");
  if (stream_ == nullptr) {
    const int reason = errno;
    ::close(partial.descriptor);
    system_failure(label_, "open a stream", reason);
  }
}

SpillFile::~SpillFile() { (void)std::fclose(stream_); }

void SpillFile::append(std::span<const double> values) {
  if (std::fwrite(values.data(), sizeof(double), values.size(), stream_) != values.size()) {
    system_failure(label_, "write a temporary file beside it", errno);
  }
}

void SpillFile::read(Index begin, std::span<double> out) {
  const auto offset = static_cast<off_t>(begin) * static_cast<off_t>(sizeof(double));
  if (::fseeko(stream_, offset, SEEK_SET) != 0 ||
      std::fread(out.data(), sizeof(double), out.size(), stream_) != out.size()) {
    system_failure(label_, "read a temporary file beside it", errno);
  }
}

}  // namespace mixcert::io
