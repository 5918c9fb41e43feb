// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates of random lists of layers.
#include "certify/layer_types_property.h"

#include <gtest/gtest.h>

namespace mixcert::testing {
namespace {

TEST(LayerTypes, BoundsHoldOnRandomLists) { check_layer_types(40, 20000); }

}  // namespace
}  // namespace mixcert::testing
