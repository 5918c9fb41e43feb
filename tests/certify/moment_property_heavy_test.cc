// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The properties of moment_property.h on many networks, some with a million samples.
#include <gtest/gtest.h>

#include "certify/moment_property.h"

namespace mixcert::testing {
namespace moment_property_heavy_test {

TEST(MomentPropertiesHeavy, HoldOnRandomNetworks) { check_moment_properties(1000, 15000, 100); }

}  // namespace moment_property_heavy_test
}  // namespace mixcert::testing
