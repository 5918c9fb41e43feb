// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Compression of a mixture to fewer components: weighted k-means on the component means in
// metric coordinates, then moment matching in each cluster (the paper's compression
// algorithm, with weights and a metric).
#pragma once

#include <cstdint>
#include <vector>

#include "certificate/reduction.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

/// Cluster of each column of `points`: Lloyd's algorithm from a k-means++ start. Deterministic
/// for a seed. Clusters are numbered by their first member; empty ones are dropped.
std::vector<Index> weighted_k_means(ConstMatrixRef points, ConstVectorRef weights, Index clusters,
                                    std::uint64_t seed);

/// At most `count` >= 1 components.
Sealed<CompressionTrace> compress(const GaussianMixture& mixture, Index count, ConstVectorRef metric,
                                  std::uint64_t seed);

}  // namespace mixcert
