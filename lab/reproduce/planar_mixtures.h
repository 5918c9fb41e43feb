// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Gaussian mixtures in the plane and their signatures, for the figures of convergence and conservatism. The
// paper does not print its mixtures; these are drawn with distinct modes and E|z|^2 = 1, so that a distance
// is a relative one.
#pragma once

#include <cstdint>

#include "quantize/signature.h"

namespace mixcert::lab {

GaussianMixture planar_mixture(Index components, std::uint64_t seed);

struct MixtureSignature {
  DiscreteLaw law;
  double bound = 0.0;  ///< proven W2 to the mixture, componentwise
  double rate = 0.0;   ///< the paper's corollary for uniform grids of the same sizes
};

/// Each component with at most `locations` / M points of its own grid.
MixtureSignature grid_signature_of(const GaussianMixture& mixture, Index locations, QuantizerFamily family);

/// Centres of clusters of `samples` with their shares.
DiscreteLaw clustered_signature(const Matrix& samples, Index locations, std::uint64_t seed);

/// An estimate and what it says of two equal laws.
struct LawDistance {
  double distance = 0.0;
  double floor = 0.0;
};

/// W2 between the samples, each with the same weight, and the law, whose weights are exact. The floor is the
/// same with as many samples of the law itself.
LawDistance sample_distance(const Matrix& samples, const DiscreteLaw& law, std::uint64_t seed);

}  // namespace mixcert::lab
