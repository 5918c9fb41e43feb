// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which masks to enumerate: those whose randomness costs most at the output (D.4).
#pragma once

#include "certificate/mask_tree.h"
#include "methods/prepared.h"

namespace mixcert {

/// A tree of at most `leaves` leaves for hidden layer `layer` whose law is `mixture`.
MaskTree plan_masks(const Prepared& prepared, Index layer, const GaussianMixture& mixture, Index leaves);

}  // namespace mixcert
