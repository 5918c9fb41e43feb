// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// MW2, the Wasserstein-type distance between Gaussian mixtures whose couplings are
// themselves mixtures (Delon and Desolneux 2020): a linear program over Bures costs.
#pragma once

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/transport/discrete_transport.h"

namespace mixcert {

struct MixtureTransport {
  TransportPlan plan;     ///< over components; cost = MW2^2 for the computed costs
  double distance = 0.0;  ///< MW2, an upper bound of W2
};

/// Exact MW2 by network simplex.
MixtureTransport mixture_transport(const GaussianMixture& from, const GaussianMixture& to);

}  // namespace mixcert
