// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mixtures fitted to the law of one output.
#include "theorems/fitted_law.h"

#include <gtest/gtest.h>

namespace mixcert::testing {
namespace {

TEST(FittedLaw, IsNotBelowTheTruthAndClose) { check_fitted_laws(24); }

}  // namespace
}  // namespace mixcert::testing
