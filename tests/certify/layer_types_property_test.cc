// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates of random lists of layers.
#include "certify/layer_types_property.h"

#include <gtest/gtest.h>

namespace mixcert::testing {
namespace layer_types_property_test {

TEST(LayerTypes, BoundsHoldOnRandomLists) { check_layer_types(40, 20000); }

}  // namespace layer_types_property_test
}  // namespace mixcert::testing
