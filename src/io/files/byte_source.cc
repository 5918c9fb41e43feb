// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bounds-checked reading of files and memory (POSIX), and SHA-256 with OpenSSL.
#include "io/files/byte_source.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "io/files/file_error.h"
#include "mixcert/core/error.h"

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

namespace mixcert {

namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    good_ = context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
  }
  void add(const void* bytes, std::size_t count) {
    good_ = good_ && EVP_DigestUpdate(context_.get(), bytes, count) == 1;
  }
  /// `label` is what messages call the bytes.
  std::string text(const std::string& label) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    good_ = good_ && EVP_DigestFinal_ex(context_.get(), digest.data(), &length) == 1;
    if (!good_) throw FileError(label + ": cannot compute SHA-256");
    std::string digits;
    for (unsigned i = 0; i < length; ++i) {
      digits += "0123456789abcdef"[digest[i] >> 4U];
      digits += "0123456789abcdef"[digest[i] & 15U];
    }
    return digits;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
  bool good_ = false;
};

}  // namespace

std::string sha256_of_file(const std::filesystem::path& path) {
  io::FileSource source(path);
  Digest digest;
  std::vector<unsigned char> chunk(std::size_t{1} << 16U);
  for (std::uint64_t offset = 0; offset < source.size();) {
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), source.size() - offset));
    source.read(offset, chunk.data(), now, "contents");
    digest.add(chunk.data(), now);
    offset += now;
  }
  return digest.text(path.string());
}

std::string sha256_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.text("bytes");
}

}  // namespace mixcert
