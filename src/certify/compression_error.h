// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What compression of a layer's mixture costs (T.1), for any method.
#pragma once

#include "mixcert/certify/trace.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

/// Bounds of W2 and W1 in a metric.
struct Distances {
  Upper w2;
  Upper w1;
};

/// Distance of `before` and `after` along the plan in the metric scale^2 diag(g); zero without a plan.
Distances compression_distances(const CompressionTrace& trace, ConstVectorRef g, Upper scale);

}  // namespace mixcert
