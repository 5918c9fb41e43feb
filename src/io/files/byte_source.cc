// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bounds-checked reading of files and memory (POSIX).
#include "io/files/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "io/files/file_error.h"

namespace mixcert::io {

void ByteSource::read(std::uint64_t offset, void* out, std::size_t count, const std::string& field) {
  if (offset > size_ || count > size_ - offset) {
    bad_file(label_, field, std::to_string(count) + " bytes at offset " + std::to_string(offset),
             "a file of " + std::to_string(size_) + " bytes");
  }
  if (count > 0) read_inside(offset, out, count);
}

void MemorySource::read_inside(std::uint64_t offset, void* out, std::size_t count) {
  std::memcpy(out, bytes_.data() + offset, count);
}

FileSource::FileSource(const std::filesystem::path& path)
    : ByteSource(path.string()), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) system_failure(label(), "open", errno);
  struct stat status {};
  const int reason = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
  if (reason != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    if (reason != 0) system_failure(label(), "examine", reason);
    bad_file(label(), "file", "a regular file", "something else");
  }
  set_size(static_cast<std::uint64_t>(status.st_size));
}

FileSource::~FileSource() { ::close(descriptor_); }

void FileSource::read_inside(std::uint64_t offset, void* out, std::size_t count) {
  auto* position = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, position, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) system_failure(label(), "read", errno);
    if (got == 0) bad_file(label(), "file", "its size to stay the same", "an earlier end");
    position += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
}

}  // namespace mixcert::io
