// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reproducible randomness. Every piece of work that draws numbers makes its own
// generator from (seed, stream, index), so results depend neither on the number
// of threads nor on the order in which pieces are done.
#pragma once

#include <cstdint>
#include <random>

namespace mixcert {

using Generator = std::mt19937_64;

/// What a generator is for; generators of different streams never coincide.
enum class Stream : std::uint64_t {
  KMeans = 1,
  Network = 2,
  Mixture = 3,
  Bootstrap = 4,
  Example = 5,
  Floor = 6,
  Coupling = 7,
  Member = 8,
  Process = 9,
  Restart = 10,
  Subset = 11,
  Tuning = 12,
  Metric = 13,
};

/// One round of SplitMix64: a bijection that scatters consecutive integers.
inline std::uint64_t split_mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

inline Generator make_generator(std::uint64_t seed, Stream stream, std::uint64_t index = 0,
                                std::uint64_t part = 0) {
  const std::uint64_t a = split_mix(seed ^ split_mix(static_cast<std::uint64_t>(stream)));
  return Generator(split_mix(a ^ split_mix(index ^ split_mix(part + 0x51ED2701ULL))));
}

/// Uniform double in [0, 1) from the top 53 bits; std::uniform_real_distribution
/// differs between standard libraries.
inline double uniform(Generator& generator) { return static_cast<double>(generator() >> 11U) * 0x1.0p-53; }

}  // namespace mixcert
