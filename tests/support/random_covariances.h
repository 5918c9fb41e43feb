// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Seeded random covariances of every structure: diagonal, blocks, dense, each with or without
// a low-rank part, regular or singular, and zero.
#pragma once

#include <string>
#include <vector>

#include "mixcert/mixture/gaussian_mixture.h"
#include "support/random_laws.h"

namespace mixcert::testing {

enum class Structure {
  Zero,
  Diagonal,
  SparseDiagonal,
  DiagonalLowRank,
  Blocks,
  BlocksLowRank,
  Dense,
  RankOne
};

const std::vector<Structure>& all_structures();

std::string to_string(Structure structure);

/// Stacked blocks of the given size; every third one is singular.
Matrix random_blocks(Generator& generator, Index count, Index size);

/// Blocks have size 3, so `dimension` must then be a multiple of it.
Covariance random_structured(Generator& generator, Structure structure, Index dimension, Index rank = 2);

}  // namespace mixcert::testing
