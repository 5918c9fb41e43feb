// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mixtures with fewer components. Which ones are merged is anyone's choice; the merged mixture and its
// coupling to the old one are made here.
#pragma once

#include <vector>

#include "certificate/sealed.h"
#include "certificate/trace_parts.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

/// Merges components of `mixture` by their moments: component i goes whole into component clusters[i] of the
/// result, which have mean and covariance of their members. Throws InvalidArgument unless there is one entry
/// for each component and clusters are numbered 0, 1, .. by their first members.
Sealed<CompressionTrace> merge_components(const GaussianMixture& mixture, std::vector<Index> clusters);

/// The same merge with another coupling of the components. Masses are nonnegative and add up to the weights
/// of either mixture, to 2^-30: throws InvalidArgument otherwise. Where they add up to more they are made
/// smaller; what then is missing is part of the certificate (T.1).
Sealed<CompressionTrace> with_plan(const Sealed<CompressionTrace>& merged, std::vector<PlanEntry> plan);

// What compression of a layer's mixture costs (T.1), for any method.

/// Bounds of W2 and W1 in a metric.
struct Distances {
  UpperBound w2;
  UpperBound w1;
};

/// Distance of `before` and `after` along the plan in the metric scale^2 diag(g); zero without a plan.
Distances compression_distances(const CompressionTrace& trace, ConstVectorRef g, UpperBound scale);

}  // namespace mixcert
