// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Weights that depend on each other.
#include "certify/dependent_weights.h"

#include <gtest/gtest.h>

namespace mixcert::testing {
namespace dependent_weights_test {

TEST(DependentWeights, HaveTheirDeviationsAndBounds) { check_dependent_weights(90, 10000); }

}  // namespace dependent_weights_test
}  // namespace mixcert::testing
