// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// SHA-256 with OpenSSL.
#include "io/files/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "io/files/byte_source.h"
#include "mixcert/core/error.h"

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
