// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Maps of samples: from one Gaussian to another, singular ones included, so that the law of the result is
// exact, and from a component to the pieces of its split (C.3).
#pragma once

#include <vector>

#include "methods/moment/moment_trace.h"
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

// A split: along each direction the monotone map from N(0,1) to the rule's mixture, then the piece drawn from
// its posterior (C.3).

/// F^{-1}(Phi(x)) for the distribution function F of the rule's mixture.
double monotone_split(const SplitRule& rule, double x);
/// A component of the rule's mixture, drawn from its posterior given that the mixture took the value x.
Index draw_split_component(const SplitRule& rule, double x, Generator& generator);

class SplitMap {
 public:
  /// `splits` may be empty.
  SplitMap(const Gaussian& component, const std::vector<SplitDirection>& splits);

  [[nodiscard]] Index piece_count() const { return piece_count_; }
  /// Moves the columns of `samples`, which have the component's law, and returns their pieces, numbered as
  /// the moment method numbers them: the last direction's center counts fastest.
  std::vector<Index> apply(Matrix& samples, Generator& generator) const;

 private:
  std::vector<Whitening> whitening_;  ///< one; none without splits
  const std::vector<SplitDirection>& splits_;
  Matrix directions_;   ///< U, one column each
  Matrix regression_;   ///< (C^{+1/2} U)'
  Matrix rest_factor_;  ///< root of I - U' C^+ U
  Index piece_count_ = 1;
};

}  // namespace mixcert
