// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The local error of the moment method for one Gaussian piece: the true push of the piece through activation
// and layer against the Gaussian that stands for it, in any metric of the next layer (H.1) to (H.3).
// One input. Layers whose outputs are correlated given their input have noise terms of their own (H.7),
// (H.8).
#pragma once

#include "certificate/contributions.h"
#include "certificate/rounding_terms.h"
#include "core/column_product.h"
#include "methods/moment/moment_trace.h"
#include "mixcert/activation/activation.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

/// Correlations of a Gaussian, at most one in size; zero where a coordinate is constant.
Matrix correlation_of(const Covariance& covariance);

/// What the covariance of a pushed Gaussian adds to the slack of a norm, divided by the spread sum_j
/// B_jj^{1/2} |gain_j| (the root of the sum of squares where coordinates are independent) (H.5).
double covariance_slack(const DenseLayer& next, const NormTerm& norm);

/// What rounding the covariance of the layer's outputs moves them by, in units of their deviations. Behind
/// independent inputs: W2 between the stored Gaussian and the exact one (Y.28). Behind any: W2 between the
/// stored one and the sum of its noise and of the signal as stored, which the raised diagonal makes
/// semidefinite (Y.30).
double covariance_rounding(const DenseLayer& layer);

/// E (sqrt S - sqrt E S)^2 from Var S, an interval around E S, and S >= least: the smaller of the two bounds
/// of (H.2).
double root_deviation(double variance, double mean_low, double mean_high, double least);

/// What is used of S^{1/2}, S the noise that activations make.
enum class NoiseRule {
  Any,     ///< nothing but its first two moments (H.2)
  Convex,  ///< S^{1/2} is a convex function of the piece (Y.27)
};

class PieceError {
 public:
  /// `law` must outlive this.
  PieceError(const DenseLayer& next, const Gaussian& piece, const SurrogateLaw& law,
             NoiseRule rule = NoiseRule::Any);

  /// Bound of E |y - y^|_Q^2 for the coupling of (H.1) and (H.2), as if moments were exact.
  [[nodiscard]] UpperBound mean_square(const NormTerm& norm) const;
  /// The part of it that the mean weights make, (H.1); outputs must be independent given their input.
  [[nodiscard]] UpperBound signal_square(const NormTerm& norm) const;
  /// What inexact moments and rounded parameters of the pushed Gaussian add in W_Q (H.5).
  [[nodiscard]] double slack(const NormTerm& norm) const;
  /// Bound of E |(W - W') a + b - b'|_Q^2 where weights that are not Gaussian became Gaussian (W.1).
  [[nodiscard]] UpperBound replaced_weights(const NormTerm& norm) const;
  /// What mean_square() and replaced_weights() are sums of, without rounding (X.1).
  [[nodiscard]] SquareParts parts(const NormTerm& norm) const;
  /// Per output, the bound of E (sqrt S_l - sqrt E S_l)^2 that mean_square weighs with the metric (H.2),
  /// (Y.27).
  [[nodiscard]] const Vector& noise() const { return noise_; }
  /// No less than the root of E |y - E b|_Q^2.
  [[nodiscard]] double size_in(const NormTerm& norm) const;

 private:
  void compute_noise(const DenseLayer& next, NoiseRule rule);
  /// Gives `use` matrices, as expressions, whose rows l add up to Var S_l of (H.2); columns are neurons. `v`
  /// are the variances of the weights. Products V a^2 before squares: V^2 may underflow where V a^2 does not.
  template <class Use>
  void visit_variance(const Matrix& v, const Use& use) const {
    if (independent_) {
      use((v * law_.square_slope.asDiagonal()).cwiseAbs2());
      use((v * law_.square_rest.asDiagonal()).cwiseAbs2());
    } else {
      const Matrix linear = v * law_.square_slope.asDiagonal();
      const Matrix linear_image = column_product(linear, correlation_);
      use(linear_image.cwiseProduct(linear));
      const Matrix rest = v * law_.square_rest.asDiagonal();
      const Matrix rest_image = column_product(rest, correlation_.cwiseAbs2());
      use(rest_image.cwiseProduct(rest));
    }
    if (law_.is_masked()) use((v * law_.mask_square.cwiseSqrt().asDiagonal()).cwiseAbs2());
  }
  /// `variance`, the sum of visit_variance() for these nonnegative weights of a_j^2, with its errors.
  [[nodiscard]] double variance_bound(double variance, const Vector& weights) const;
  [[nodiscard]] Vector noise_by_neuron(const Vector& outputs) const;
  /// p^2 + q^2 + t^2 of every neuron: the form of independent coordinates.
  [[nodiscard]] Vector hermite_squares(const Vector& first_order) const;
  /// Column j of the form of correlated coordinates.
  [[nodiscard]] double hermite_column(const Matrix& gram, const Vector& first_order, Index j) const;
  /// What each neuron adds to the form.
  [[nodiscard]] Vector hermite_parts(const Matrix& gram, const Vector& first_order) const;
  /// (H.1) for any order-one coefficients p: sum_ij B_ij (p p r + q q r^2) + |B_ij| |r|^3 t t, each B_ij
  /// computed with at most `operations` roundings and of size at most roots_i roots_j.
  [[nodiscard]] UpperBound hermite_form(const Matrix& gram, const Vector& roots, const Vector& first_order,
                                        Index operations) const;
  [[nodiscard]] static UpperBound masked_form(const Matrix& gram, const Vector& roots, const Vector& costs,
                                              Index operations);
  [[nodiscard]] UpperBound correlated_noise(const NormTerm& norm) const;
  /// (H.8), where the layer's noise has this form and it is smaller than (H.7); sets noise_ and has_roots_.
  void compute_scalar_noises(const DenseLayer& next, const Gaussian& piece);
  /// No less than E (s^{1/2} - t^{1/2})^2, s the noise's scalar and t what it is on average over
  /// activation_covariance().
  [[nodiscard]] double scalar_cost(const ScalarNoise& noise, const Gaussian& piece,
                                   const Matrix& covariance) const;
  /// No less than the deviation of s.
  [[nodiscard]] double scalar_deviation(const ScalarNoise& noise, const Gaussian& piece) const;
  /// No less than the largest eigenvalue of the correlations.
  [[nodiscard]] double largest_eigenvalue() const;
  /// No less than the norm in L2 of B^{1/2} (a - E a); B is semidefinite, its entries computed with at most
  /// `operations` roundings.
  [[nodiscard]] double deviation_in(const Matrix& gram, Index operations) const;

  const DenseLayer& next_;
  const SurrogateLaw& law_;
  bool independent_ = false;        ///< the piece's coordinates are
  Matrix correlation_;              ///< r, empty when independent_
  double correlation_error_ = 0.0;  ///< bound of what its entries are off by
  double size_;                     ///< no less than the norm of the mean activations
  PushRounding pushed_;
  Vector noise_;            ///< bound of E (sqrt S_l - sqrt E S_l)^2
  bool has_roots_ = false;  ///< is that the noise of dependent weights, too (H.8)?
  Vector replaced_;         ///< per output, see replaced_weights; empty where all weights are Gaussian
  Vector noise_slack_;      ///< bound of |sqrt E S_l - sqrt of the variance used|
};

// Roots of noise that is convex, docs/theory/convex_noise.md (Y.27): where the sizes of the activations are
// convex functions of normal variables, so is S^{1/2}, S = beta + sum_j V_j a_j^2, and its lower tail is
// light.

/// Are the sizes |f| of all activations convex?
bool has_convex_sizes(const ActivationMap& activation, Index neurons);

/// No less than E (r - 1)^2, r = (S/E S)^{1/2}, where S^{1/2} is convex and `variance` no less than that of
/// S/E S.
double convex_root_deviation(double variance);

}  // namespace mixcert
