// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/draws.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "mixcert/core/error.h"

namespace mixcert {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kNonceBytes = 16;
// The cipher counts bytes in an int.
constexpr std::size_t kWordsAtOnce = std::size_t{1} << 16U;

void check(int result) {
  if (result != 1) throw Error("random bits: the cipher ChaCha20 could not be used");
}

/// SHA-256 of a name and three numbers: every use and input has a key of its own.
std::array<unsigned char, kKeyBytes> key_of(std::uint64_t seed, DrawUse use, std::uint64_t input) {
  std::vector<unsigned char> text;
  for (const char c : std::string_view("mixcert draws 1")) text.push_back(static_cast<unsigned char>(c));
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
  // The counter, which starts at zero, then the nonce.
  std::array<unsigned char, kNonceBytes> nonce{};
  for (unsigned byte = 0; byte < 8; ++byte) nonce[8 + byte] = static_cast<unsigned char>(block >> (8 * byte));
  check(cipher_->context == nullptr ? 0 : 1);
  check(EVP_EncryptInit_ex(cipher_->context, EVP_chacha20(), nullptr, key.data(), nonce.data()));
}

RandomBits::~RandomBits() = default;

void RandomBits::fill(std::span<std::uint64_t> words) {
  // The key stream is what zeros are encrypted to. Bytes are put together in one order on every machine.
  std::vector<unsigned char> bytes;
  for (std::size_t first = 0; first < words.size(); first += kWordsAtOnce) {
    const std::size_t count = std::min(kWordsAtOnce, words.size() - first);
    bytes.assign(8 * count, 0);
    const int size = static_cast<int>(bytes.size());
    int written = 0;
    check(EVP_EncryptUpdate(cipher_->context, bytes.data(), &written, bytes.data(), size));
    check(written == size ? 1 : 0);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t word = 0;
      for (unsigned byte = 0; byte < 8; ++byte) word |= std::uint64_t{bytes[8 * i + byte]} << (8 * byte);
      words[first + i] = word;
    }
  }
}

// Box and Muller: g = r cos(phi), r sin(phi) with r^2 = -2 log U. The first bit says on which side of 1/2 U
// lies, so that neither end of (0, 1) loses digits; two bits of the angle are its quadrant.

std::array<double, 2> normal_pair(const std::array<std::uint64_t, 4>& words) {
  const std::uint64_t top = words[0] >> 63U;
  // In (0, 1/2): the middle of a cell of 2^-128.
  const double small = static_cast<double>(words[0] & ~(std::uint64_t{1} << 63U)) * 0x1.0p-64 +
                       (static_cast<double>(words[1]) + 0.5) * 0x1.0p-128;
  const double radius = std::sqrt(-2.0 * (top == 0 ? std::log(small) : std::log1p(-small)));
  const auto quadrant = static_cast<unsigned>(words[2] >> 62U);
  const double part = static_cast<double>(words[2] & ~(std::uint64_t{3} << 62U)) * 0x1.0p-62 +
                      (static_cast<double>(words[3]) + 0.5) * 0x1.0p-126;
  const double angle = 0.5 * std::numbers::pi * part;
  const double cosine = radius * std::cos(angle), sine = radius * std::sin(angle);
  switch (quadrant) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

void fill_normals(RandomBits& bits, Matrix& out) {
  const auto pairs = static_cast<std::size_t>((out.size() + 1) / 2);
  std::vector<std::uint64_t> words(4 * pairs);
  bits.fill(words);
  double* const numbers = out.data();
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto pair = normal_pair({words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]});
    const auto place = static_cast<Index>(2 * i);
    numbers[place] = pair[0];
    if (place + 1 < out.size()) numbers[place + 1] = pair[1];
  }
}

}  // namespace mixcert
