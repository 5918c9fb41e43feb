// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How many inputs go through the layers together.
#pragma once

#include "certify/certifier.h"

namespace mixcert {

/// As asked for, or as many as share products while what they hold stays in a processor's own cache; fewer
/// where threads would be left without work. Results do not depend on it.
Index block_size(const Certifier& certifier, Index input_count);

}  // namespace mixcert
