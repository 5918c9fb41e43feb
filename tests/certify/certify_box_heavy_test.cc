// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Boxes of inputs of many random networks (M.11).
#include <gtest/gtest.h>

#include "certify/box_property.h"

namespace mixcert::testing {
namespace certify_box_heavy_test {

TEST(CertifyBoxHeavy, CellsCoverAndHold) { check_boxes(500, 60, 10000); }

}  // namespace certify_box_heavy_test
}  // namespace mixcert::testing
