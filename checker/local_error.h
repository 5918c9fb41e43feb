// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One Gaussian through an activation, a mask and a layer, and what the Gaussian that takes its place costs,
// docs/theory/ moment-method.md (H.1) to (H.3), (H.7), (H.8), dropout.md (D.3). In balls every number is
// exact: none of (H.5) is needed.
#pragma once

#include <optional>

#include "activation_law.h"
#include "error_norm.h"

namespace mixcert_check {

/// What of a layer meets every input, in balls of doubles.
struct RoundedLayer {
  explicit RoundedLayer(const Layer& layer) : mean(layer.mean), variance(layer.variance) {}
  DoubleMatrix mean, variance;  ///< of W
};

/// The law of the first layer's outputs at an input. With `rounded` products with weights, and here and below
/// everything that is about pairs of neurons, are computed in doubles (I.6), (I.7); without it, null, in
/// Arb's balls. What doubles are off is too much where covariances are close to singular ones, whose roots it
/// moves by its own root.
GaussianLaw first_law(const Layer& layer, const RoundedLayer* rounded, const std::vector<double>& input);

/// A Gaussian in front of activation f, `mask` and layer `next`.
class Step {
 public:
  Step(const GaussianLaw& law, const Activation& f, const Mask& mask, const Layer& next,
       const RoundedLayer* rounded);

  /// The Gaussian q+ of (H.3), (H.7).
  [[nodiscard]] GaussianLaw pushed() const;
  /// No less than E |y - y^|_Q^2, y of the true law and y^ of q+: (H.3), its noise by (H.2), or (Y.27) where
  /// that is smaller; behind weights that depend on each other (H.7) or (H.8).
  [[nodiscard]] Ball squared_error(const Norm& norm) const;

 private:
  void compute_noise(bool convex);
  /// M k K k' M', K the correlation, and what masks add.
  [[nodiscard]] BallMatrix carried_covariance() const;
  void compute_dependent_noise(const Activation& f);
  /// What weights that depend on each other add, twice (H.7).
  [[nodiscard]] Ball dependent_error(const Balls& g) const;

  const Layer& next_;
  const RoundedLayer* rounded_;  ///< next_, or null
  ActivationLaw law_;
  Balls noise_mean_, noise_error_;  ///< Sb, and a bound of E (S^{1/2} - Sb^{1/2})^2, of independent weights
  std::optional<BallMatrix> noise_covariance_;  ///< of weights and biases that depend on each other
  bool has_roots_ = true;                       ///< is noise_error_ all of the noise's?
};

}  // namespace mixcert_check
