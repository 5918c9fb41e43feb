// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The properties of bound_property.h on few networks.
#include "certify/bound_property.h"

#include <gtest/gtest.h>

namespace mixcert::testing {
namespace bound_property_test {

TEST(BoundProperties, HoldOnRandomNetworks) { check_properties(30, 20000); }

}  // namespace bound_property_test
}  // namespace mixcert::testing
