// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Properties of certificates on networks with masks, skips and weights that are not Gaussian; many networks.
#include <gtest/gtest.h>

#include "certify/layers_property.h"

namespace mixcert::testing {
namespace layers_property_heavy_test {

TEST(LayerPropertiesHeavy, HoldOnRandomNetworks) { check_layer_properties(100, 250000); }

}  // namespace layers_property_heavy_test
}  // namespace mixcert::testing
