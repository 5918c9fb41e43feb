// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates at extreme scales; many networks.
#include <gtest/gtest.h>

#include "certify/scale_property.h"

namespace mixcert::testing {
namespace scale_property_heavy_test {

TEST(ScalePropertiesHeavy, HoldOnRandomNetworks) { check_scale_properties(2000, 20000); }

}  // namespace scale_property_heavy_test
}  // namespace mixcert::testing
