// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What splitting the components of a layer's mixture costs (P.1).
#pragma once

#include "mixcert/certify/moment_trace.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

/// Bound of the distance of `after` and `pieces` in the metric scale^2 diag(g), rounding of the pieces
/// included; zero when nothing is split.
Upper split_distance(const MomentLayerTrace& layer, ConstVectorRef g, Upper scale);

}  // namespace mixcert
