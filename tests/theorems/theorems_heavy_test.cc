// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two thousand random networks against brute force.
#include <gtest/gtest.h>

#include "theorems/output_law_oracle.h"
#include "theorems/two_layer_oracle.h"

namespace mixcert::testing {
namespace theorems_heavy_test {

TEST(LineHeavy, RandomNetworksAreNotBelowBruteForce) { EXPECT_GE(check_random_lines(1000, 2000), 1400); }

TEST(LineHeavy, NetworksAsAfterTrainingAreTight) { EXPECT_GE(check_trained_lines(1000, 400), 340); }

TEST(LineHeavy, RandomLayersAreNotBelowTheirProjections) { EXPECT_GE(check_random_layers(1000, 1000), 700); }

TEST(LineHeavy, RandomWideLayersAreNotBelowTheirProjections) {
  EXPECT_GE(check_random_layers(5000, 400, 40), 250);
}

TEST(LineHeavy, TwoHiddenLayersAreNotBelowTheirCoupling) {
  EXPECT_GE(check_random_two_layers(1000, 2000, 20000).compared, 1900);
}

TEST(LineHeavy, OutputsWithTheirSignalApartAreNotBelowSamples) {
  EXPECT_GE(check_signals_apart(1000, 2000, 100000), 150);
}

}  // namespace theorems_heavy_test
}  // namespace mixcert::testing
