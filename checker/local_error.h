// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One Gaussian through an activation, a mask and a layer, and what the Gaussian that takes its place costs,
// docs/theory/ moment-method.md (H.1) to (H.3), dropout.md (D.3). In balls every number is exact: none of
// (H.5) is needed.
#pragma once

#include <vector>

#include "error_norm.h"
#include "moments.h"

namespace mixcert_check {

/// N(mean, covariance).
struct GaussianLaw {
  Balls mean;
  Balls variances;
  std::vector<BallMatrix> covariance;  ///< one, or none where the coordinates are independent
};

/// The law of the first layer's outputs at an input.
GaussianLaw first_law(const Layer& layer, const std::vector<double>& input);

/// A Gaussian in front of activation f, `mask` and layer `next`.
class Step {
 public:
  Step(const GaussianLaw& law, const Activation& f, const Mask& mask, const Layer& next);

  /// The Gaussian q+ of (H.3).
  [[nodiscard]] GaussianLaw pushed() const;
  /// No less than E |y - y^|_Q^2, y of the true law and y^ of q+: (H.3), its noise by (H.2), or (Y.27) where
  /// that is smaller.
  [[nodiscard]] Ball squared_error(const Norm& norm) const;

 private:
  /// m a in the place of a, for the last neuron: (D.3).
  void apply(const Mask& mask);
  void compute_noise();

  const Layer& next_;
  bool has_convex_size_;
  Balls mean_, gain_, linear_, quadratic_, rest_;  // mu, k, p = c_1 - k, q = c_2, t of (H.1)
  Balls second_, square_slope_, square_rest_;      // E a^2, e, w of (H.2), times 1 + nu
  Balls mask_variance_, mask_cost_, mask_square_;  // tau^2, c and (E m^4 - (1 + nu)^2) E a^4; none without
  std::vector<BallMatrix> correlation_;            // r; none where it is the identity
  Balls noise_mean_, noise_error_;                 // Sb, and a bound of E (S^{1/2} - Sb^{1/2})^2
};

}  // namespace mixcert_check
