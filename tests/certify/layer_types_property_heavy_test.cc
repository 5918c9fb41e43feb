// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates of random lists of layers; many lists, many samples each.
#include <gtest/gtest.h>

#include "certify/layer_types_property.h"

namespace mixcert::testing {
namespace layer_types_property_heavy_test {

TEST(LayerTypesHeavy, BoundsHoldOnRandomLists) { check_layer_types(150, 250000); }

}  // namespace layer_types_property_heavy_test
}  // namespace mixcert::testing
