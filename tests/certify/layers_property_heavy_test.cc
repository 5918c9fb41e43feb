// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Properties of certificates on networks with masks, skips and weights that are not Gaussian; many networks.
#include <gtest/gtest.h>

#include "certify/layers_property.h"

namespace mixcert::testing {
namespace {

TEST(LayerPropertiesHeavy, HoldOnRandomNetworks) { check_layer_properties(100, 1000000); }

}  // namespace
}  // namespace mixcert::testing
