// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// SHA-256 of a file with OpenSSL.
#include "mixcert/io/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "io/byte_source.h"
#include "mixcert/core/error.h"

namespace mixcert {

std::string sha256_of_file(const std::filesystem::path& path) {
  io::FileSource source(path);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  bool good = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::vector<unsigned char> chunk(std::size_t{1} << 16U);
  for (std::uint64_t offset = 0; good && offset < source.size();) {
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), source.size() - offset));
    source.read(offset, chunk.data(), now, "contents");
    good = EVP_DigestUpdate(context.get(), chunk.data(), now) == 1;
    offset += now;
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  good = good && EVP_DigestFinal_ex(context.get(), digest.data(), &length) == 1;
  if (!good) throw FileError(path.string() + ": cannot compute SHA-256");
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += "0123456789abcdef"[digest[i] >> 4U];
    text += "0123456789abcdef"[digest[i] & 15U];
  }
  return text;
}

}  // namespace mixcert
