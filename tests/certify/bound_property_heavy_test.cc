// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The properties of bound_property.h on many networks with many samples.
#include <gtest/gtest.h>

#include "certify/bound_property.h"

namespace mixcert::testing {
namespace bound_property_heavy_test {

TEST(BoundPropertiesHeavy, HoldOnRandomNetworks) { check_properties(500, 25000); }

}  // namespace bound_property_heavy_test
}  // namespace mixcert::testing
