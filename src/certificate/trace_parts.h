// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What every method's trace has: the trace of one set of inputs on its way through the network is everything
// the certificate is computed from. Planners choose (which components are merged, which grids, splits and
// masks are taken) and need not be trusted: the certificate's side checks their choices, makes every law and
// every number of a trace itself, and seals it (certificate/sealed.h). These structs are what is read from a
// sealed trace; one that anybody filled in by hand has no certificate. Choices that no bound depends on are
// here for the derivatives (Z.20), which hold them fixed.
#pragma once

#include <vector>

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/transport/mixture_transport.h"

namespace mixcert {

/// A mixture and its compression. Coordinates are neuron-major: neuron * input_count + input.
struct CompressionTrace {
  GaussianMixture before;       ///< q_k; empty when nothing was compressed
  GaussianMixture after;        ///< its compression c_k, or q_k itself
  std::vector<PlanEntry> plan;  ///< coupling of the components of the two, if compressed
  std::vector<Index> clusters;  ///< which component of `after` each of `before` went into; no bound uses it
};

/// What is known of the features x and of the push through the first layer; norms are over all inputs
/// together.
struct FirstLayerTrace {
  double norm = 0.0;   ///< no less than |x| and |s_0(x)|
  double error = 0.0;  ///< no less than |x - exact features|
  Vector squares;      ///< (s_0(x))^2, neuron * input_count + input
  Vector raise;        ///< added to the variances of q_1 against rounding (J.6); empty when nothing was
};

}  // namespace mixcert
