// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Weights that depend on each other; many networks.
#include <gtest/gtest.h>

#include "certify/dependent_weights.h"

namespace mixcert::testing {
namespace dependent_weights_heavy_test {

TEST(DependentWeightsHeavy, HaveTheirDeviationsAndBounds) { check_dependent_weights(500, 40000); }

}  // namespace dependent_weights_heavy_test
}  // namespace mixcert::testing
