// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Masks that stay masks in the surrogate, docs/theory/graphs.md (O.10): its law is a sum of masks and
// normals, whose distance to a Gaussian is a theorem (mask-sums.md). The heaviest masks are enumerated.
#pragma once

#include <string>

#include "mixcert/mixture/gaussian_mixture.h"
#include "simulated/graph/linear_surrogate.h"

namespace mixcert {

struct MaskMixture {
  GaussianMixture mixture;  ///< of y^ - E y^: a component for each state of the masks that are enumerated
  double distance = 0.0;    ///< no less than W2 of y^ - E y^ to it
  std::string theorem;
};

/// At most `components` (0: as many as are of use).
MaskMixture mask_mixture(const LayerGraph& graph, const LinearSurrogate& surrogate, Index components);

}  // namespace mixcert
