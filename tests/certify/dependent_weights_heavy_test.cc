// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Weights that depend on each other; many networks.
#include <gtest/gtest.h>

#include "certify/dependent_weights.h"

namespace mixcert::testing {
namespace {

TEST(DependentWeightsHeavy, HaveTheirDeviationsAndBounds) { check_dependent_weights(500, 40000); }

}  // namespace
}  // namespace mixcert::testing
