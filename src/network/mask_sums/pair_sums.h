// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums over all pairs of masks, docs/theory/mask-sums.md (D.15): for vectors c_j, u_j in R^m, |u_j| <= 1,
//
//     sum_jk c_j.c_k x_jq x_kq (u_j.u_k)^q,  q = 1, 2, 3,      sum_jk |c_j||c_k| t_j t_k (u_j.u_k)^4.
//
// They are squared norms of the tensors sum_j x_jq c_j (x) u_j^{(x) q}, which takes one pass over the masks;
// where m is so large that tensors cost more than pairs, pairs are taken in blocks.
#pragma once

#include <array>

#include "mixcert/core/types.h"

namespace mixcert {

struct PairTerms {
  Matrix vectors;     ///< c, a column for each mask
  Vector sizes;       ///< no less than |c_j|
  Matrix directions;  ///< u
  Matrix weights;     ///< masks x 3: x_jq
  Vector rests;       ///< t_j >= 0
};

/// About how many operations pair_sums() takes for so many masks and outputs.
double pair_operations(Index masks, Index outputs);

/// Of the numbers as they stand, no less than the four sums. The same bits for every number of threads.
std::array<double, 4> pair_sums(const PairTerms& terms, int threads);

// Both ways, of which pair_sums() takes the one with fewer operations.

std::array<double, 4> pair_sums_by_tensors(const PairTerms& terms, int threads);
std::array<double, 4> pair_sums_by_blocks(const PairTerms& terms, int threads);

}  // namespace mixcert
