// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Independent standard normals that a proof can speak of, docs/theory/simulation.md (F.1): bits of a
// cryptographic generator through Box and Muller's transform. The simulations of statistics/ use another
// source, of which nothing is proven.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "mixcert/core/types.h"

namespace mixcert {

/// What bits are for: those of different uses are different.
enum class DrawUse : std::uint64_t {
  Pilot = 1,      ///< to choose by
  Main = 2,       ///< to conclude from
  Marginals = 3,  ///< to conclude from for single outputs
  Stein = 4,      ///< to estimate from
  SteinMean = 5,  ///< to estimate the mean from
  Centre = 6,     ///< to choose the mean by
  Statistic = 7,  ///< to estimate a coupling's cost from
};

/// AES-256 in counter mode (NIST SP 800-38A), for which processors have instructions: the key is a digest of
/// seed, use and input, the counter begins with the number of the block.
class RandomBits {
 public:
  RandomBits(std::uint64_t seed, DrawUse use, std::uint64_t input, std::uint64_t block);
  ~RandomBits();
  RandomBits(const RandomBits&) = delete;
  RandomBits& operator=(const RandomBits&) = delete;

  void fill(std::span<std::uint64_t> words);
  /// Uniform on [0, 1), a multiple of 2^-53.
  double uniform();

 private:
  struct Cipher;
  std::unique_ptr<Cipher> cipher_;
};

/// Independent standard normals, column by column.
void fill_normals(RandomBits& bits, Matrix& out);

}  // namespace mixcert
