// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The property of masked_bounds_test for many networks.
#include <gtest/gtest.h>

#include "certify/masked_property.h"

namespace mixcert::testing {
namespace masked_bounds_heavy_test {

TEST(MaskedBounds, EncloseTheDistancesOfThreeThousandNetworks) {
  EXPECT_GT(expect_enclosed(2024, 3000, 12), 1000);
}

}  // namespace masked_bounds_heavy_test
}  // namespace mixcert::testing
