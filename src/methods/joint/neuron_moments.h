// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The activation of one neuron at all inputs: mean, covariance and a matrix that bounds fourth moments, each
// with what it may be off by, (J.2) and (J.4).
#pragma once

#include <vector>

#include "activation/hermite_coefficients.h"
#include "methods/joint/cross_moments.h"

namespace mixcert {

class NeuronMoments {
 public:
  /// `rank` of the covariance that `covariance` is a block of.
  NeuronMoments(const Activation& activation, Vector mean, Matrix covariance, Index rank);

  /// Writes everything about neuron j.
  void write(Index j, CrossMoments& moments) const;

 private:
  /// Derivatives are read backwards from what is kept here.
  friend class NeuronGradient;
  friend class FourthGradient;

  /// How a Fourth was found.
  enum class FourthRule { Supremum, Tail, Stein };
  /// A bound of E|d|^2 d d' in the Loewner order, d = a - E a.
  struct Fourth {
    Matrix matrix;
    double error = 0.0;  ///< times the identity is to be added
    FourthRule rule = FourthRule::Stein;
    double tail_start = 0.0;  ///< t of the rule Tail
  };

  /// Two sums over Hermite orders of (J.4).
  struct SteinSums {
    Matrix m, f;
  };

  void sum_series();
  [[nodiscard]] const HermiteExpansion& at(Index d) const { return expansions_[static_cast<std::size_t>(d)]; }
  [[nodiscard]] double shift(Index d) const;
  void bound_sizes();
  [[nodiscard]] double size(Index d) const { return sizes_(d); }
  [[nodiscard]] double pair_error(Index d, Index e) const;
  [[nodiscard]] double error_norm() const;
  [[nodiscard]] Matrix typical_inverse() const;
  // fourth_moments.cc
  [[nodiscard]] double judge(const Fourth& fourth) const;
  [[nodiscard]] double distance_to_value() const;
  [[nodiscard]] Vector slope_tails() const;
  [[nodiscard]] SteinSums stein_sums() const;
  [[nodiscard]] Matrix scaled_square() const;
  [[nodiscard]] double stein_rounding(Index d, Index e) const;
  [[nodiscard]] Matrix stein_matrix(double& error) const;
  [[nodiscard]] Fourth by_largest_value() const;
  [[nodiscard]] Fourth by_stein() const;
  [[nodiscard]] Fourth best_fourth() const;

  Activation activation_;
  Vector mean_;
  Matrix covariance_;
  Vector deviation_;
  double lipschitz_, relative_;
  Index order_ = kHermiteOrder;
  std::vector<HermiteExpansion> expansions_;
  Matrix coefficients_;  ///< D x (order + 1)
  Matrix correlation_, result_;
  Vector leftover_;
  Vector sizes_;            ///< no less than the deviations of the activation
  Vector leftover_errors_;  ///< what leftover_ may be off by
  Matrix judging_;          ///< what a P of (J.4) may look like; chooses between valid bounds
  double error_ = 0.0;      ///< Frobenius norm of what result_ may be off by
  Fourth fourth_;
};

}  // namespace mixcert
