// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What happened to the law of one set of inputs on its way through the network: everything
// the certificate is computed from, and nothing else. Whoever built it need not be trusted:
// any trace whose parts fit together gets a valid bound.
#pragma once

#include <vector>

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/quantize/signature.h"
#include "mixcert/transport/discrete_transport.h"

namespace mixcert {

/// A mixture and its compression. Coordinates are neuron-major: neuron * input_count + input.
struct CompressionTrace {
  GaussianMixture before;       ///< q_k; empty when nothing was compressed
  GaussianMixture after;        ///< its compression c_k, or q_k itself
  std::vector<PlanEntry> plan;  ///< coupling of the components of the two, if compressed
};

/// Hidden layer k of the signature method.
struct LayerTrace : CompressionTrace {
  std::vector<GridSignature> signatures;  ///< one per component of `after`
  Index points = 0;                       ///< signature points left after merging
};

struct Trace {
  Index input_count = 1;
  double input_norm = 0.0;         ///< no less than |x| and |s_0(x)|, all inputs together
  std::vector<LayerTrace> layers;  ///< hidden layers 1..K
  GaussianMixture output;          ///< q_{K+1}, neuron-major
};

}  // namespace mixcert
