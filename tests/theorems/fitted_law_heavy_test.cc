// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mixtures fitted to the law of one output.
#include <gtest/gtest.h>

#include "theorems/fitted_law.h"

namespace mixcert::testing {
namespace {

TEST(FittedLaw, IsNotBelowTheTruthAndClose) { check_fitted_laws(300); }

}  // namespace
}  // namespace mixcert::testing
