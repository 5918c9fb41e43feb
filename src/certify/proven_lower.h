// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How close a Gaussian, and the mixture that stands for a network, can be to the network's law: proven from
// below where dropout masks are all that is random, docs/theory/mask-sums.md (D.9).
#pragma once

#include <limits>

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

/// NaN where nothing is known.
struct ProvenLower {
  /// No more than W2 between the network's law and any Gaussian.
  double gaussian = std::numeric_limits<double>::quiet_NaN();
  /// No more than W2 between the network's law and the mixture.
  double mixture = std::numeric_limits<double>::quiet_NaN();
};

/// Are Bernoulli masks all that is random? A graph, which may be too large to be written out, is not asked.
bool is_made_of_masks(const Network& network);

/// At one input of such a network; `sensitivity` is the network's. The work is limited, whatever the network.
ProvenLower proven_lower(const Network& network, const Sensitivity& sensitivity, ConstVectorRef input,
                         const GaussianMixture& mixture);

}  // namespace mixcert
