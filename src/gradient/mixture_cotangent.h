// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a number made of a mixture says about its components.
#pragma once

#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

/// Derivatives of a number in the components of a mixture, dense; weights of components are constants.
struct MixtureCotangent {
  std::vector<Vector> means;
  std::vector<Matrix> covariances;
};

}  // namespace mixcert
