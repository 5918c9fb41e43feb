// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two hidden layers: the first one's term carried through the second (Y.20), and both terms at once (Y.28).
#pragma once

#include "methods/moment/theorem.h"

namespace mixcert {

Theorem first_layer_theorem();
Theorem both_layers_theorem();

}  // namespace mixcert
