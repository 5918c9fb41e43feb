// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (D.17) on 3,000 random masked networks, all masks enumerated: none of the bounds is below the truth.
#include <gtest/gtest.h>

#include "theorems/masked_certificates.h"

namespace mixcert::testing {
namespace masked_certificates_heavy_test {

TEST(MaskedCertificatesHeavy, AreNotBelowTheTruth) {
  EXPECT_GE(compare_masked(1001, 2000, 1, 1).used, 500);
  EXPECT_GE(compare_masked(2001, 3000, 1, 1000).used, 500);
  EXPECT_GE(compare_masked(3001, 3500, 2, 1000).used, 100);
  EXPECT_GE(compare_masked(3501, 4000, 3, 1).used, 100);
}

}  // namespace masked_certificates_heavy_test
}  // namespace mixcert::testing
