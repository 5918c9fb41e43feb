// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/draws.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "mixcert/core/error.h"
#include "simulated/box_muller.h"

namespace mixcert {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kCounterBytes = 16;
// The cipher counts bytes in an int.
constexpr std::size_t kWordsAtOnce = std::size_t{1} << 16U;

void check(int result) {
  if (result != 1) throw Error("random bits: the cipher AES-256 could not be used");
}

/// SHA-256 of a name and three numbers: every use and input has a key of its own.
std::array<unsigned char, kKeyBytes> key_of(std::uint64_t seed, DrawUse use, std::uint64_t input) {
  std::vector<unsigned char> text;
  for (const char c : std::string_view("mixcert draws 2")) text.push_back(static_cast<unsigned char>(c));
  for (const std::uint64_t number : {seed, static_cast<std::uint64_t>(use), input}) {
    for (unsigned shift = 0; shift < 64; shift += 8)
      text.push_back(static_cast<unsigned char>(number >> shift));
  }
  std::array<unsigned char, kKeyBytes> key{};
  unsigned size = 0;
  check(EVP_Digest(text.data(), text.size(), key.data(), &size, EVP_sha256(), nullptr));
  return key;
}

}  // namespace

struct RandomBits::Cipher {
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  Cipher() = default;
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  ~Cipher() { EVP_CIPHER_CTX_free(context); }
};

RandomBits::RandomBits(std::uint64_t seed, DrawUse use, std::uint64_t input, std::uint64_t block)
    : cipher_(std::make_unique<Cipher>()) {
  const auto key = key_of(seed, use, input);
  // The counter's last eight bytes count up from zero.
  std::array<unsigned char, kCounterBytes> counter{};
  for (unsigned byte = 0; byte < 8; ++byte) counter[byte] = static_cast<unsigned char>(block >> (8 * byte));
  check(cipher_->context == nullptr ? 0 : 1);
  check(EVP_EncryptInit_ex(cipher_->context, EVP_aes_256_ctr(), nullptr, key.data(), counter.data()));
}

RandomBits::~RandomBits() = default;

double RandomBits::uniform() {
  std::uint64_t word = 0;
  fill({&word, 1});
  return static_cast<double>(word >> 11U) * 0x1.0p-53;
}

void RandomBits::fill(std::span<std::uint64_t> words) {
  // The key stream is what zeros are encrypted to.
  std::fill(words.begin(), words.end(), 0);
  for (std::size_t first = 0; first < words.size(); first += kWordsAtOnce) {
    const auto part = words.subspan(first, std::min(kWordsAtOnce, words.size() - first));
    auto* const bytes = reinterpret_cast<unsigned char*>(part.data());
    const int size = static_cast<int>(part.size_bytes());
    int written = 0;
    check(EVP_EncryptUpdate(cipher_->context, bytes, &written, bytes, size));
    check(written == size ? 1 : 0);
  }
  // The first byte is the lowest, on every machine.
  if constexpr (std::endian::native == std::endian::big) {
    for (std::uint64_t& word : words) word = __builtin_bswap64(word);
  }
}

void fill_normals(RandomBits& bits, Matrix& out) {
  constexpr Index kAtOnce = 2 * kNormalPairs;
  std::array<std::uint64_t, kNormalWords> words{};
  Vector last(kAtOnce);
  for (Index first = 0; first < out.size(); first += kAtOnce) {
    bits.fill(words);
    const Index left = out.size() - first;
    box_muller(words.data(), left < kAtOnce ? last.data() : out.data() + first);
    if (left < kAtOnce) std::copy_n(last.data(), left, out.data() + first);
  }
}

}  // namespace mixcert
