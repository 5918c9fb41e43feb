// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Properties of certificates on networks with masks, skips and weights that are not Gaussian.
#include "certify/layers_property.h"

#include <gtest/gtest.h>

namespace mixcert::testing {
namespace layers_property_test {

TEST(LayerProperties, HoldOnRandomNetworks) { check_layer_properties(60, 20000); }

}  // namespace layers_property_test
}  // namespace mixcert::testing
