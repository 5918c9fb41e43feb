// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Costs of a coupling of components, docs/theory/transport.md (T.1).
#include "certify/compression_error.h"

#include "mixcert/transport/gaussian_transport.h"

namespace mixcert {

Distances compression_distances(const CompressionTrace& trace, ConstVectorRef g, Upper scale) {
  if (trace.plan.empty()) return {};
  Upper squared;
  Upper mean;
  for (const PlanEntry& entry : trace.plan) {
    const Upper cost =
        gaussian_transport_cost(trace.before.component(entry.source), trace.after.component(entry.target), g);
    const Upper mass = Upper::exact(entry.mass);
    squared = squared + mass * cost;
    mean = mean + mass * sqrt(cost);
  }
  return {sqrt(squared) * scale, mean * scale};
}

}  // namespace mixcert
