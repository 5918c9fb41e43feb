// Licensed under the Apache License, Version 2.0; see LICENSE.
#include <gtest/gtest.h>

#include "checker/mutations.h"

namespace mixcert::testing {
namespace mutation_test {

TEST(Mutations, NoFalseClaimIsAccepted) {
  MutationCounts all;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const MutationCounts counts = mutate(seed, 200);
    all.refused += counts.refused;
    all.accepted += counts.accepted;
    EXPECT_EQ(counts.false_claims, 0) << seed;
  }
  EXPECT_GT(all.refused, 300);
  // Spaces of a header, a larger bound, a lower digit of the input: still true.
  EXPECT_GT(all.accepted, 20);
}

}  // namespace mutation_test
}  // namespace mixcert::testing
