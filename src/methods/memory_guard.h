// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Refuses work that would exhaust memory, before it allocates anything.
#pragma once

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

class MemoryGuard {
 public:
  explicit MemoryGuard(double limit_in_gib) : limit_in_gib_(limit_in_gib) {}

  /// Means and covariances of `points` pushed points.
  void check_push(const DenseLayer& layer, Index points, Index input_count) const;
  /// The moment method's pre-activations at several inputs jointly, and what it needs on the way.
  void check_joint_moments(const DenseLayer& layer, Index input_count) const;
  /// What bounds for sets of inputs are made of: a few matrices of the size of the layer's inputs.
  void check_input_norms(const DenseLayer& first) const;
  /// Grid points of a mixture, after compression to `components` (0: none), `points` to each.
  void check_signature(const GaussianMixture& mixture, Index components, Index points, bool cross) const;

 private:
  void check(double bytes, const std::string& what) const;

  double limit_in_gib_;
};

}  // namespace mixcert
