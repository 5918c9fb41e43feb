// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A nameless temporary file of doubles (POSIX).
#include "io/files/spill_file.h"

#include <unistd.h>

#include <cerrno>

#include "io/files/file_error.h"
#include "io/files/partial_file.h"

namespace mixcert::io {

SpillFile::SpillFile(const std::filesystem::path& target) : label_(target.string()) {
  const PartialFile partial = create_partial_file(target);
  ::unlink(partial.path.c_str());
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
