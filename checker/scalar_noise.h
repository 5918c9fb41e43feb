// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Noise that is a scalar of the activations times a fixed matrix, docs/theory/moment-method.md (H.8): its
// root against a constant.
#pragma once

#include <optional>

#include "local_error.h"

namespace mixcert_check {

class ScalarNoise {
 public:
  /// `covariance`: K~ of (H.7).
  ScalarNoise(const Activation& f, const ActivationLaw& law, const BallMatrix& covariance);

  /// No less than E (s^{1/2} - t^{1/2})^2, s = a'Qa + least, t = mu'Q mu + least + tr Q K~.
  [[nodiscard]] Ball cost(const BallMatrix& form, const Ball& least) const;

 private:
  /// No less than the deviation of s.
  [[nodiscard]] Ball deviation(const BallMatrix& form) const;

  const ActivationLaw& law_;
  const BallMatrix& covariance_;
  Ball steepest_, largest_eigenvalue_;  ///< of the activation, and of the correlation
  std::optional<Ball> reach_;           ///< no less than |a - mu|, where f is bounded
};

}  // namespace mixcert_check
