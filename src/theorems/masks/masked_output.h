// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The output of a layer behind fixed activations and dropout masks, of which a leaf of (D.4) knows some: a
// sum of masks and Gaussian noise, docs/theory/mask-sums.md (D.13), (D.16), (D.19).
#pragma once

#include "methods/moment/moment_trace.h"
#include "mixcert/network/dense_layer.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// How much work one sum of masks may take.
struct MaskWork {
  double most_operations = 1e9;
  bool is_quick = false;  ///< one stage (D.12) and few nodes in place of chains (D.13)
};

// `law` is that of a leaf, of activations that are not random; weights and biases are independent and
// Gaussian, or deterministic.

/// No less than W2 between the output, activations as computed, and the Gaussian of its exact moments: a
/// function of the masks that the leaf does not know and, where weights are random, of the noise. Infinite
/// where numbers are.
double left_masks_distance(const DenseLayer& layer, const Mask& mask, const SurrogateLaw& law,
                           const MaskWork& work);

/// No less than what computed activations and the stored mean and covariance of `pushed` add to it.
double leaf_rounding(const DenseLayer& layer, const Mask& mask, const SurrogateLaw& law,
                     const Gaussian& pushed);

}  // namespace mixcert
