// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From derivatives in a signature's directions u_d back to the Gaussian it was made for and to the metric it
// was placed in, (Z.21), (Z.22). Which axes there are and their sizes are held fixed.
#pragma once

#include "gradient/gaussian_gradient.h"
#include "quantize/signature.h"

namespace mixcert {

/// Derivatives in one component of a layer and its signature.
struct ComponentGradient {
  GaussianGradient gaussian;
  Matrix directions;  ///< in u_d, one column each

  static ComponentGradient zero(const Gaussian& gaussian, const GridSignature& signature) {
    return {GaussianGradient::zero(gaussian), Matrix::Zero(gaussian.dimension(), signature.axis_count())};
  }
};

/// Moves gradient.directions into gradient.gaussian; returns the derivatives in the metric, per coordinate.
Vector pull_back_directions(const Gaussian& gaussian, const GridSignature& signature, ConstVectorRef metric,
                            ComponentGradient& gradient);

}  // namespace mixcert
