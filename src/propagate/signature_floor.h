// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a signature's certificate is at least, so that methods need not be run that cannot win.
#pragma once

#include "propagate/methods.h"

namespace mixcert {

/// No more than the certificate of signatures with the sizes of the options, up to rounding: docs/theory/
/// stein.md, "Signatures beside it" in (Y.1). Zero where nothing is known: dependent neurons, masks, sizes
/// that follow from an epsilon.
double signature_floor(const Prepared& prepared, const MomentTrace& trace);

}  // namespace mixcert
