// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Transport of samples between Gaussians, singular ones included, so that the law of the result is exact.
#pragma once

#include "mixcert/core/rng.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

/// x = mean + C^{1/2} e, read backwards: e of a sample x is standard normal in all coordinates.
class Whitening {
 public:
  explicit Whitening(const Gaussian& gaussian);

  [[nodiscard]] bool is_diagonal() const { return vectors_.size() == 0; }
  /// C^{1/2}, symmetric.
  [[nodiscard]] Matrix root() const;
  /// Variances where diagonal.
  [[nodiscard]] const Vector& eigenvalues() const { return values_; }
  /// e of the columns of `samples`. Directions in which C vanishes get fresh normals.
  [[nodiscard]] Matrix whiten(ConstMatrixRef samples, Generator& generator) const;
  /// C^{+1/2} right, without the directions in which C vanishes.
  [[nodiscard]] Matrix apply_inverse_root(ConstMatrixRef right) const;

 private:
  Vector mean_;
  Vector values_;         ///< eigenvalues, or variances; zero where taken as vanishing
  Vector inverse_roots_;  ///< zero where the value is
  Matrix vectors_;        ///< empty when diagonal
};

/// The optimal coupling of two Gaussians as a map of samples: y = m_2 + C_2^{1/2} O e with e the white
/// noise of x and O the orthogonal factor of C_2^{1/2} C_1^{1/2}. y has the law N(m_2, C_2) for any O.
class GaussianMap {
 public:
  GaussianMap(const Gaussian& from, const Gaussian& to);
  [[nodiscard]] Matrix apply(ConstMatrixRef samples, Generator& generator) const;

 private:
  Whitening from_;
  Vector mean_;
  Vector scale_;   ///< C_2^{1/2} where both covariances are diagonal
  Matrix matrix_;  ///< C_2^{1/2} O otherwise
};

}  // namespace mixcert
