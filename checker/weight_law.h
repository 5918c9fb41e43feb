// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Weights that depend on each other, docs/theory/network.md (N.2), (N.4), (N.5): W - M with
// Cov(W_ij, W_kl) = R_ik C_jl (Kronecker), or U X V' with independent entries of X (Kronecker eigenbasis).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ball_matrix.h"
#include "safetensors.h"

namespace mixcert_check {

/// Of a tensor. Its negative eigenvalues, which rounding leaves, stand for zeros (docs/model-format.md):
/// where none is below -t, no entry is off by more than t. Throws BadFile where that was not proven.
BallMatrix covariance(const Block& block, const std::string& name, long size);

class WeightLaw {
 public:
  /// Of the layer `name`; nothing where its weights are independent. Throws BadFile, also for covariances
  /// that were not proven positive semidefinite.
  static std::optional<WeightLaw> of(const Block& block, const std::string& name, long inputs, long outputs);

  /// The names of its tensors.
  [[nodiscard]] std::vector<std::string> tensors() const;

  /// E (W - M)' diag(g) (W - M).
  [[nodiscard]] BallMatrix gram(const Balls& g) const;
  /// The covariance of (W - M) a at a point, and on average where E aa' = `second`.
  [[nodiscard]] BallMatrix noise_at(const Balls& point) const;
  [[nodiscard]] BallMatrix noise(const BallMatrix& second) const;

  /// Given a, the noise is a sum of independent N(0, a'Qa R): Q and the diagonal of R.
  struct Scalar {
    BallMatrix form;
    Balls rows;
  };
  [[nodiscard]] std::vector<Scalar> scalars() const;

 private:
  WeightLaw(BallMatrix row, BallMatrix column, std::optional<BallMatrix> variance)
      : row_(std::move(row)), column_(std::move(column)), variance_(std::move(variance)) {}
  /// From a'Ca, or from the mean squares of V'a.
  [[nodiscard]] BallMatrix noise_of(const Balls& squares) const;

  BallMatrix row_, column_;             ///< R and C, or U and V
  std::optional<BallMatrix> variance_;  ///< of X
};

}  // namespace mixcert_check
