// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A random input: x plus noise that follows a Gaussian mixture, the same law for every input (randomised
// smoothing, sensor noise). A network with it is the network behind an identity layer whose bias is the noise
// (L.5); several components make an ensemble (B.1).
#pragma once

#include <variant>
#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/network/weight_law.h"

namespace mixcert {

struct InputNoise {
  struct Component {
    double weight = 1.0;
    Vector offset;       ///< mean of the noise, one entry per input feature; empty: zero
    BiasCovariance law;  ///< of the noise around its mean
  };
  std::vector<Component> components;  ///< empty: no noise

  [[nodiscard]] bool is_none() const { return components.empty(); }
};

}  // namespace mixcert
