// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mixtures fitted to the law of one output.
#include <gtest/gtest.h>

#include "theorems/fitted_law.h"

namespace mixcert::testing {
namespace fitted_law_heavy_test {

TEST(FittedLaw, IsNotBelowTheTruthAndClose) { check_fitted_laws(300); }

}  // namespace fitted_law_heavy_test
}  // namespace mixcert::testing
