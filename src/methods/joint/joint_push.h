// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Gaussian that the moment method puts in place of a layer's outputs at several inputs jointly (J.1).
#pragma once

#include "methods/joint/joint_trace.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// q_{k+1} from the law, the surrogate and the noise in `layer`, whose majorant is filled in.
Gaussian push_jointly(const DenseLayer& next, Index input_count, JointLayerTrace& layer);

}  // namespace mixcert
