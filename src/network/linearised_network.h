// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A network linearised at the means of its weights, docs/theory/network.md (N.6): what other libraries call
// the glm predictive of a Laplace approximation.
#pragma once

#include "mixcert/network/network.h"

namespace mixcert {

/// The network whose output at `input` is f(E theta) + J (theta - E theta), J the derivative of f(theta) at
/// the means: layers behind the first have deterministic weights, the identity between them and a Gaussian
/// bias. It means nothing at other inputs. Throws InvalidArgument where weights are not Gaussian or masks are
/// random.
Network linearised_network(const Network& network, ConstVectorRef input);

}  // namespace mixcert
