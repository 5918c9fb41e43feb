// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Stein bounds for several outputs, docs/theory/stein.md (Y.9), (Y.13), (Y.14).
#pragma once

#include <vector>

#include "methods/moment/moment_trace.h"
#include "mixcert/activation/activation.h"
#include "mixcert/network/dense_layer.h"
#include "theorems/stein/neuron_kernels.h"
#include "theorems/stein/noise_transform.h"

namespace mixcert {

// The neurons of a layer in coordinates in which the Gaussian's covariance is at least the identity: one
// column each, so that sums over neurons are products of matrices (Y.13).

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

// Sums over neurons of what the Stein bound of a layer is made of (Y.9), in coordinates in which the
// Gaussian's covariance is at least the identity. Squared norms of the tensors in a metric are forms in its
// entries; their coefficients do not depend on the flow's time.

/// Coefficients of sum_b omega_b sum_(a <= c) coefficients(b, (a, c)) E_ac: m rows, m (m + 1)/2 columns.
struct SteinForm {
  Matrix mean, fluctuation;
  double error = 0.0;  ///< of the root of the mean's form, metric 1
  double size = 0.0;   ///< no less than the root of mean and fluctuation, metric 1, all signs alike
};

struct SteinNorms {
  double first = 0.0;    ///< (E |(T - C) C^{-1/2}|^2)^{1/2}
  SteinForm second;      ///< of 2 |A|^2, E = diag(omega) or any other metric in one of the slots
  Matrix second_shared;  ///< the fluctuation's with neuron j counted t_j times (Y.12)
  SteinForm third;       ///< of 6 |B|^2, E = omega omega'
  double gamma = 0.0;    ///< relative rounding of the forms
};

/// root C root' >= I; `shares` are the t_j.
SteinNorms stein_norms(const DenseLayer& layer, const Matrix& root, const std::vector<NeuronKernels>& kernels,
                       const Vector& shares);

// The integral over the Ornstein-Uhlenbeck flow (Y.12).

/// Coordinates in which covariance and noise are both nearly diagonal (Y.14).
struct SteinCoordinates {
  bool exist = false;
  Matrix root;          ///< root covariance root' >= I
  Vector noise;         ///< N, no more than E S
  Vector shares;        ///< diagonal of root N root', which is at most I
  double defect = 0.0;  ///< no less than the norm of what else that matrix is made of
};

/// W2 to the Gaussian by the best mix of first order and higher orders.
double stein_flow(const SteinNorms& norms, const SteinCoordinates& at, const NoiseTransform& transform);

// The local error of the last layer for any number of outputs, by a second-order Stein bound (Y.9): a sum of
// independent neurons is as far from Gaussian as its third cumulants are from zero, to first order.

/// Neurons times outputs to the fourth: what the third-order sums cost.
double stein_work(const DenseLayer& layer);
inline constexpr double kMostSteinWork = 4e7;

/// W2 between the true push of `piece` through activation and layer and the Gaussian `pushed`; infinite where
/// (Y.9) does not apply: dependent neurons, correlated outputs, masks, a singular covariance, very many
/// outputs. Weights that are not Gaussian count as the Gaussians that stand for them.
UpperBound stein_distance(const ActivationMap& activation, const DenseLayer& layer, const Gaussian& piece,
                          const SurrogateLaw& law, const Gaussian& pushed);

}  // namespace mixcert
