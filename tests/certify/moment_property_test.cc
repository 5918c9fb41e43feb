// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The properties of moment_property.h on few networks.
#include "certify/moment_property.h"

#include <gtest/gtest.h>

namespace mixcert::testing {
namespace moment_property_test {

TEST(MomentProperties, HoldOnRandomNetworks) { check_moment_properties(50, 20000, 0); }

}  // namespace moment_property_test
}  // namespace mixcert::testing
