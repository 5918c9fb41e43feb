// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates at extreme scales.
#include "certify/scale_property.h"

#include <gtest/gtest.h>

namespace mixcert::testing {
namespace scale_property_test {

TEST(ScaleProperties, HoldOnRandomNetworks) { check_scale_properties(200, 8000); }

}  // namespace scale_property_test
}  // namespace mixcert::testing
