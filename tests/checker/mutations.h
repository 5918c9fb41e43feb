// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A proof or its model changed at random places: the checker refuses, or what is claimed is still true.
#pragma once

#include <cstdint>

namespace mixcert::testing {

struct MutationCounts {
  int refused = 0;
  int accepted = 0;
  int false_claims = 0;  ///< accepted, and contradicted by a lower bound of the distance
};

/// Changes a proof of a random network `count` times: a bit, a number, a character of a header, and bits of
/// the model behind which the proof's digest is set right, as one would who wants to be believed.
MutationCounts mutate(std::uint64_t seed, int count);

}  // namespace mixcert::testing
