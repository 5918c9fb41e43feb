// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The neurons of a layer in coordinates in which the Gaussian's covariance is at least the identity: one
// column each, so that sums over neurons are products of matrices (Y.13).
#pragma once

#include <vector>

#include "mixcert/network/dense_layer.h"
#include "theorems/stein/neuron_kernels.h"

namespace mixcert {

/// Where entry (a, c), a <= c, of a symmetric matrix is among its packed entries.
inline Index packed_place(Index a, Index c) { return a <= c ? c * (c + 1) / 2 + a : a * (a + 1) / 2 + c; }
inline Index packed_count(Index n) { return n * (n + 1) / 2; }

/// Packed x y' + y x' of the columns of two matrices, or packed x x' of one.
Matrix packed_sums(const Matrix& x, const Matrix& y);
Matrix packed_squares(const Matrix& x);

struct SteinColumns {
  SteinColumns(const DenseLayer& layer, Matrix new_root);

  [[nodiscard]] Index outputs() const { return weights.rows(); }
  [[nodiscard]] Index neurons() const { return weights.cols(); }
  /// sum_l x_l R e_l (R e_l)' unpacked: R diag(x) R'.
  [[nodiscard]] Matrix spread(const Vector& x) const { return root * x.asDiagonal() * root.transpose(); }

  Matrix weights, variances;  ///< M and V
  Matrix root;                ///< R
  double root_size;           ///< Frobenius norm of R
  Matrix images, mixed;       ///< R M and R (V o M)
  Matrix image_squares;       ///< packed (R M)(R M)'
  Matrix axes;                ///< packed (R e_l)(R e_l)', one column per output
  // Per neuron.
  Vector lengths;        ///< |M|^2
  Vector turned, cross;  ///< |R M|^2 and (R M).(R (V o M))
  Vector scaled;         ///< |R V|^2
  Vector noise, traces;  ///< |R V R'| and tr R V R'
};

/// Numbers that weigh products of the tensors tau a M(x)V, Dt M(x)M(x)M and Dq V(x)M of neurons, one row
/// each: no less than covariances of the kernels.
struct SecondWeights {
  // NOLINTNEXTLINE(readability-identifier-naming): indices
  enum Pair { kTauTau, kTauDt, kTauDq, kDtDt, kDtDq, kDqDq, kPairs };
  Matrix pairs;
};

/// 2 sum_i E X_i X_i', X the sum of the three tensors, symmetric in the last two slots, summed over neurons:
/// row b of the coefficients is 2 sum_i E X_i,ba X_i,bc. The second one counts neuron j `shares`_j times or
/// more.
struct SecondFluctuation {
  Matrix plain, shared;
};
SecondFluctuation second_fluctuation(const SteinColumns& columns, const SecondWeights& weights,
                                     const Vector& shares);

}  // namespace mixcert
