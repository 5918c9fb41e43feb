// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Independent standard normals that a proof can speak of, docs/theory/simulation.md (F.1): bits of a
// cryptographic generator, uniforms of 128 bits, and Box and Muller's transform with a proven error. The
// simulations of statistics/ use a faster source, of which nothing is proven.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "mixcert/core/types.h"

namespace mixcert {

/// What bits are for: those of different uses are different.
enum class DrawUse : std::uint64_t {
  Pilot = 1,  ///< to choose by
  Main = 2,   ///< to conclude from
};

/// ChaCha20 in counter mode (RFC 8439): the key is a digest of seed, use and input, the nonce is the block.
class RandomBits {
 public:
  RandomBits(std::uint64_t seed, DrawUse use, std::uint64_t input, std::uint64_t block);
  ~RandomBits();
  RandomBits(const RandomBits&) = delete;
  RandomBits& operator=(const RandomBits&) = delete;

  void fill(std::span<std::uint64_t> words);

 private:
  struct Cipher;
  std::unique_ptr<Cipher> cipher_;
};

/// A computed number differs from a standard normal one by at most this, but for kLostProbability (F.1).
inline constexpr double kNormalError = 1e-13;
inline constexpr double kLostProbability = 0x1.0p-79;

/// Both normals of one pair of uniforms of 128 bits each, given as high and low words.
std::array<double, 2> normal_pair(const std::array<std::uint64_t, 4>& words);

/// Independent standard normals, column by column.
void fill_normals(RandomBits& bits, Matrix& out);

}  // namespace mixcert
