// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How an error of a layer's activations reaches the output: the metric of the next pre-activations and
// its pullback through the mean weights. Independent of inputs, so built once per network.
#pragma once

#include <string>
#include <vector>

#include "mixcert/certify/sensitivity.h"
#include "mixcert/network/network.h"

namespace mixcert {

struct Carrier {
  std::string name;   ///< of the chain; "output" at the last layer
  Vector metric;      ///< G_{k+1}, proven feasible: inflation included; ones at the output
  Matrix gram;        ///< M_k' G_{k+1} M_k
  Vector gram_roots;  ///< square roots of its diagonal, rounded up
};

/// Element [k-1]: the carriers of hidden layer k, one for every chain that may be used.
using Carriers = std::vector<std::vector<Carrier>>;

/// One carrier per chain of `sensitivity.metrics`; at the last hidden layer one, the identity.
Carriers make_carriers(const Network& network, const Sensitivity& sensitivity);

}  // namespace mixcert
