// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading, inflating (zlib) and digests (OpenSSL).
#include "data/contents.h"

#include <openssl/evp.h>
#define ZLIB_CONST  // input is const
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "io/files/byte_source.h"
#include "io/files/file_error.h"
#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18U;
constexpr std::size_t kMd5Digits = 32;

/// zlib's state, with the bytes still to be read.
class Inflater {
 public:
  Inflater(std::string_view bytes, const std::string& label) : label_(label) {
    if (bytes.size() > std::numeric_limits<uInt>::max()) {
      io::bad_file(label_, "gzip", "less than 4 GiB", std::to_string(bytes.size()) + " bytes");
    }
    stream_.next_in = reinterpret_cast<const Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    constexpr int kGzipOnly = 15 + 16;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw ResourceError(label_ + ": zlib has no memory");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Fills `chunk`; the number of bytes, 0 at the end of the member.
  std::size_t next(std::string& chunk) {
    if (ended_) return 0;
    stream_.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream_.avail_out = static_cast<uInt>(chunk.size());
    int status = Z_OK;
    // A call may use up input, such as a header, and give nothing.
    while (status == Z_OK && stream_.avail_out == chunk.size()) status = inflate(&stream_, Z_NO_FLUSH);
    ended_ = status == Z_STREAM_END;
    if (status == Z_BUF_ERROR) io::bad_file(label_, "gzip", "a whole compressed stream", "an early end");
    if (status != Z_OK && !ended_) io::bad_file(label_, "gzip", "a compressed stream", "damaged data");
    return chunk.size() - stream_.avail_out;
  }
  [[nodiscard]] bool has_more_input() const { return stream_.avail_in > 0; }

 private:
  const std::string& label_;
  z_stream stream_{};
  bool ended_ = false;
};

/// gzip adds a header with a name and at most a thousandth.
std::uint64_t largest_compressed(std::uint64_t size) { return size + size / 1000 + 65536; }

}  // namespace

std::string read_bytes(const std::filesystem::path& path, std::uint64_t max_bytes) {
  io::FileSource source(path);
  if (source.size() > max_bytes) {
    io::bad_file(path.string(), "size", "at most " + std::to_string(max_bytes) + " bytes",
                 std::to_string(source.size()));
  }
  std::string bytes(source.size(), '\0');
  source.read(0, bytes.data(), bytes.size(), "contents");
  return bytes;
}

std::string gunzip(std::string_view bytes, const std::string& label, std::uint64_t max_bytes) {
  Inflater inflater(bytes, label);
  std::string contents;
  std::string chunk(kChunk, '\0');
  while (const std::size_t count = inflater.next(chunk)) {
    if (count > max_bytes - contents.size()) {
      io::bad_file(label, "contents", "at most " + std::to_string(max_bytes) + " bytes", "more");
    }
    contents.append(chunk, 0, count);
  }
  if (inflater.has_more_input()) io::bad_file(label, "gzip", "one compressed stream", "bytes after its end");
  return contents;
}

std::string digest(std::string_view bytes, std::size_t digits) {
  const EVP_MD* const method = digits == kMd5Digits ? EVP_md5() : EVP_sha256();
  std::array<unsigned char, EVP_MAX_MD_SIZE> result{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), result.data(), &length, method, nullptr) != 1) {
    throw ResourceError("cannot compute a digest: the cryptographic library refuses");
  }
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += "0123456789abcdef"[result[i] >> 4U];
    text += "0123456789abcdef"[result[i] & 15U];
  }
  return text;
}

void check_contents(std::string_view contents, const std::string& label, const DataFile& expected) {
  if (contents.size() != expected.size) {
    io::bad_file(label, "size", std::to_string(expected.size) + " bytes", std::to_string(contents.size()));
  }
  const std::string sum = digest(contents, expected.sum.size());
  if (sum != expected.sum) {
    io::bad_file(label, expected.sum.size() == kMd5Digits ? "md5" : "sha256", expected.sum, sum);
  }
}

CheckedFile read_checked(const std::filesystem::path& path, const DataFile& expected) {
  CheckedFile file;
  if (path.extension() == ".gz") {
    file.on_disk = read_bytes(path, largest_compressed(expected.size));
    file.contents = gunzip(file.on_disk, path.string(), expected.size);
  } else {
    file.contents = read_bytes(path, expected.size);
  }
  check_contents(file.contents, path.string(), expected);
  return file;
}

std::string load_contents(const std::filesystem::path& folder, const DataFile& file) {
  const auto path = find_data_file(folder, file);
  if (!path) io::system_failure((folder / file.name).string(), "open", ENOENT);
  return read_checked(*path, file).contents;
}

}  // namespace mixcert::lab
