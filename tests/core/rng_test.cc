// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Generators of different seeds, streams, indices and parts differ; uniform numbers are
// uniform and reproducible on every platform.
#include "mixcert/core/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace mixcert {
namespace rng_test {

TEST(Rng, FirstNumbersOfAllGeneratorsDiffer) {
  std::set<std::uint64_t> first;
  std::size_t count = 0;
  const std::vector<Stream> streams = {Stream::KMeans,    Stream::Network, Stream::Mixture,
                                       Stream::Bootstrap, Stream::Example, Stream::Floor};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const Stream stream : streams) {
      for (std::uint64_t index = 0; index < 10; ++index) {
        for (std::uint64_t part = 0; part < 10; ++part) {
          first.insert(make_generator(seed, stream, index, part)());
          ++count;
        }
      }
    }
  }
  EXPECT_EQ(first.size(), count);
}

TEST(Rng, SameArgumentsGiveTheSameNumbers) {
  Generator a = make_generator(3, Stream::Network, 4, 5);
  Generator b = make_generator(3, Stream::Network, 4, 5);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a(), b());
}

TEST(Rng, KnownValueIsTheSameEverywhere) {
  // SplitMix64 of Steele, Lea and Flood (2014): the first output for seed 0.
  EXPECT_EQ(split_mix(0), 0xE220A8397B1DCDAFULL);
}

TEST(Rng, UniformNumbersPassAKolmogorovTest) {
  Generator generator = make_generator(11, Stream::Example);
  std::vector<double> draws(100000);
  for (double& x : draws) x = uniform(generator);
  std::sort(draws.begin(), draws.end());
  EXPECT_GE(draws.front(), 0.0);
  EXPECT_LT(draws.back(), 1.0);
  double distance = 0.0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    distance = std::max(distance, std::abs(draws[i] - (static_cast<double>(i) + 0.5) / 100000.0));
  }
  EXPECT_LT(distance, 2.5 / std::sqrt(100000.0));
}

}  // namespace rng_test
}  // namespace mixcert
