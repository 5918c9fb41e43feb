// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (Y.9): the last hidden layer's term for any number of outputs, by Stein's method.
#pragma once

#include "methods/moment/theorem.h"

namespace mixcert {

Theorem stein_theorem();

}  // namespace mixcert
