// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (Y.27): the local term of any layer where roots of its noise are convex functions of normal variables.
#pragma once

#include "methods/moment/theorem.h"

namespace mixcert {

Theorem convex_noise_theorem();

}  // namespace mixcert
