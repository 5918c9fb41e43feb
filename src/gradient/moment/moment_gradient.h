// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method at one input, backwards: derivatives of an activation's moments, of one Gaussian piece
// (Z.6 - Z.10), and the whole pass with one Gaussian per layer (Z.11).
#pragma once

#include "activation/hermite_coefficients.h"
#include "certificate/certificate.h"
#include "certificate/sealed.h"
#include "gradient/weight_gradient.h"
#include "methods/moment/moment_trace.h"
#include "mixcert/activation/activation.h"
#include "mixcert/core/types.h"
#include "mixcert/gradient/objective.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

// Derivatives of the Gaussian moments of an activation with respect to mean and deviation: with a = f(m + s
// x), d/dm E[g(a) k(x)] = E[g'(a) f' k] and d/ds E[g(a) k(x)] = E[g'(a) f' x k]. By quadrature that knows the
// kink; accurate to about 1e-12, not proven: derivatives are no part of a bound.

/// Column 0: d/dm, column 1: d/ds.
struct HermiteDerivatives {
  Eigen::Matrix<double, kHermiteOrder + 1, 2> coefficients;  ///< of c_0 .. c_24
  Eigen::RowVector2d variance;                               ///< of Var a
  Eigen::RowVector2d slope_energy;                           ///< of s^2 E f'^2
};

/// s > 0.
HermiteDerivatives hermite_derivatives(const Activation& activation, double mean, double deviation);

/// Of the fields of GaussianMoments, each a row (d/dm, d/ds). s > 0.
struct MomentDerivatives {
  Eigen::RowVector2d mean, slope, curvature, residual, second, square_slope, square_variance;
};

MomentDerivatives moment_derivatives(const Activation& activation, double mean, double deviation);

// Derivatives of the Hermite form of (H.1),
//     F = sum_ij B_ij r_ij (p_i p_j + q_i q_j r_ij) + |B_ij| |r_ij|^3 t_i t_j,
// and from correlations r back to a covariance (Z.7).

struct HermiteFormGradient {
  double value = 0.0;  ///< F itself
  Matrix gram;         ///< in B; symmetric
  Matrix correlation;  ///< in r; symmetric, diagonal zero; empty when coordinates are independent
  Vector linear;       ///< in p
  Vector quadratic;    ///< in q
  Vector rest;         ///< in t
};

/// An empty `correlation` stands for the identity.
HermiteFormGradient hermite_form_gradient(const Matrix& gram, const Matrix& correlation, const Vector& linear,
                                          const Vector& quadratic, const Vector& rest);

/// r_ij = C_ij / (s_i s_j), ones on the diagonal: adds derivatives in C_ij, i != j, to `covariance` and those
/// in the deviations s, C_ij fixed, to `deviations`. Rows of s_i = 0 and correlations of one are constants.
void add_correlation_gradient(const Matrix& correlation, const Matrix& correlation_bar, const Vector& s,
                              Matrix& covariance, Vector& deviations);

// Derivatives of a number in a surrogate law (without masks), and through its moments back to means and
// deviations of the pre-activations (Z.6).

/// In the fields of SurrogateLaw of the same names. Errors are constants.
struct SurrogateGradient {
  Vector mean, gain, linear, quadratic, rest, second, square_slope, square_rest;

  static SurrogateGradient zero(Index size);
};

/// In mean and deviation of every coordinate.
struct CoordinateGradient {
  Vector mean;
  Vector deviation;  ///< zero where the deviation is
};

/// Coordinates are neuron * input_count + input; `law` is surrogate_law() of these means and deviations.
CoordinateGradient surrogate_gradient(const ActivationMap& activation, ConstVectorRef means,
                                      ConstVectorRef deviations, Index input_count, const SurrogateLaw& law,
                                      const SurrogateGradient& bar);

// Derivatives of the local error of one Gaussian piece at one input (H.1), (H.2), (H.5): of what
// moment_certificate sums for one error norm (Z.8), (Z.9).

/// Derivatives in the law of one Gaussian. `covariance` is empty where coordinates are independent.
struct PieceGradient {
  Vector mean;
  Vector deviation;   ///< in the roots of the variances
  Matrix covariance;  ///< in the entries off the diagonal and, where it is not zero, on it; symmetric

  static PieceGradient zero(const Gaussian& piece);
  /// Derivatives in all entries of the covariance, those in deviations carried over to the diagonal.
  [[nodiscard]] Matrix total_covariance(const Gaussian& piece) const;
};

/// d/d(variance, mean, least) of E (sqrt S - sqrt E S)^2's bound (H.2), by the smaller of its two formulas.
struct RootDeviationGradient {
  double variance = 0.0;
  double mean = 0.0;   ///< `least` fixed
  double least = 0.0;  ///< `mean` fixed; zero at least = 0, where there is no derivative
};
RootDeviationGradient root_deviation_gradient(double variance, double mean, double least);

/// A piece, what the next layer does with it, and the error norm that its error was measured by.
struct LocalError {
  const DenseLayer& next;
  const Gaussian& piece;
  const SurrogateLaw& law;
  const ErrorNorm& error_norm;
};

/// Adds `weight` times the derivatives of the local error; those in the error norm are returned, norm by
/// norm.
std::vector<NormGradient> add_local_gradient(const LocalError& local, double weight, PieceGradient& piece,
                                             SurrogateGradient& surrogate, LayerGradient& layer);

// Derivatives through the push of a surrogate at one input (H.3), (Z.10).

/// From derivatives in the pushed law N(M mean + b, M diag(gain) r diag(gain) M' + diag(E S)) back to piece,
/// surrogate and layer. `covariance_bar` is symmetric.
void add_push_gradient(const DenseLayer& next, const Gaussian& piece, const SurrogateLaw& law,
                       const Vector& mean_bar, const Matrix& covariance_bar, PieceGradient& piece_bar,
                       SurrogateGradient& surrogate, LayerGradient& layer);

// The whole pass: its certified bound, its law, and the derivatives of any function of the two in every
// parameter of the network.

/// Bound and law are those of certify() with method `moment`, theorems `coupling` and one piece.
class MomentBound {
 public:
  /// Propagates and certifies. `network` must outlive this. Throws InvalidArgument unless the network passes
  /// require_differentiable and the input is finite and fits.
  MomentBound(const Network& network, ConstVectorRef input);

  [[nodiscard]] double bound() const { return certificate_.w2.value; }
  [[nodiscard]] const Gaussian& law() const { return trace_->output.component(0); }
  [[nodiscard]] const Certificate& certificate() const { return certificate_; }

  /// Derivatives of  bound_weight * bound + mean_bar' m + <covariance_bar, C>,  m and C the moments of the
  /// law. `covariance_bar` is symmetric; both may be empty (zero). A pre-activation that is constant counts
  /// as one whatever its variance.
  [[nodiscard]] NetworkGradient gradient(double bound_weight, ConstVectorRef mean_bar = Vector(),
                                         ConstMatrixRef covariance_bar = Matrix()) const;

 private:
  const Network& network_;
  Vector point_;  ///< what the first layer sees
  ErrorNorms error_norms_;
  Sealed<MomentTrace> trace_;
  Certificate certificate_;
};

}  // namespace mixcert
