// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Thousands of masked sums and networks.
#include <gtest/gtest.h>

#include "theorems/masked_cases.h"

namespace mixcert::testing {
namespace masked_output_heavy_test {

TEST(MaskedOutputHeavy, SumsAgainstEnumeration) {
  for (std::uint64_t seed = 1000; seed < 2000; ++seed) expect_bound_of_sum(seed, 1.0, 12);
}

TEST(MaskedOutputHeavy, NetworksAgainstEnumeration) {
  for (std::uint64_t seed = 1000; seed < 1400; ++seed) expect_bound_of_network(seed, 1.0, -1.5, 8);
}

TEST(MaskedOutputHeavy, NetworksWithNoise) {
  for (std::uint64_t seed = 1000; seed < 2000; ++seed) expect_bound_with_noise(seed);
}

}  // namespace masked_output_heavy_test
}  // namespace mixcert::testing
