// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Dropout in the signature method: masks of a discrete law's points, docs/theory/dropout.md (D.5), (D.6).
#pragma once

#include "mixcert/network/network.h"
#include "quantize/signature.h"

namespace mixcert {

struct MaskedPoints {
  DiscreteLaw law;
  /// Per coordinate, E (m_j c_j - c'_j)^2 for the masks that were not enumerated; rounded up.
  Vector errors;
  Index leaves = 1;  ///< of the tree of enumerated masks
};

/// Enumerates masks by a tree with as many leaves as `most_points` allows, those of largest weight * E c_j^2
/// first, and replaces the others by their mean, one (D.5). Gaussian masks are not enumerated.
MaskedPoints mask_coordinates(const DiscreteLaw& law, const Mask& mask, ConstVectorRef weights,
                              Index most_points);

/// The paper's Eq. (CompressedOutputDropout): the points of largest norm have all masks enumerated as long as
/// `most_points` allows, the others are left as if nothing had been dropped: c / keep (D.6).
MaskedPoints mask_like_paper(const DiscreteLaw& law, const Mask& mask, Index most_points);

}  // namespace mixcert
