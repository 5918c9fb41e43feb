// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The paper's main algorithm with compressions and grids that the options ask for.
#pragma once

#include "methods/signature/signature_tracer.h"
#include "mixcert/certificate/options.h"
#include "mixcert/certificate/services.h"
#include "mixcert/network/network.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

/// Sizes for one hidden layer.
struct LayerSizes {
  Index components = 0;  ///< after compression; 0: all
  Index points = 1;      ///< grid points per component
};

/// Chooses the sizes of hidden layer `layer` (1..K) when its mixture is known.
using SizePlanner = std::function<LayerSizes(Index layer, const GaussianMixture& mixture)>;

/// Runs the algorithm at the columns of `inputs` jointly.
Sealed<SignatureTrace> propagate(const Network& network, ConstMatrixRef inputs,
                                 const Sensitivity& sensitivity, const Options& options,
                                 const SizePlanner& planner, const Services& services);

}  // namespace mixcert
