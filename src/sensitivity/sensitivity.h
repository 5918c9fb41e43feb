// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sensitivity metrics: how much a mean-square error of each activation can grow on its way to the output, and
// the forms that they are made of.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"
#include "mixture/verified_norm.h"

namespace mixcert {

// Vectors g with diag(g) >= A, up to rounding: closed forms (M.5) and the small semidefinite program (M.7).

/// Derivatives of a number in the arguments of a form.
struct MetricGradient {
  Matrix a;       ///< symmetric
  Vector errors;  ///< empty where the form ignores them
};

/// `errors`: mean-square errors that the metric will multiply, as far as they are known; positive. A form may
/// ignore them. `pull_back` takes the derivatives of a number in g = form(a, errors) to those in the
/// arguments (Z.1) to (Z.3).
struct MetricForm {
  std::string name;
  std::function<Vector(const Matrix& a, const Vector& errors)> form;
  std::function<MetricGradient(const Matrix& a, const Vector& errors, const Vector& g_bar)> pull_back;
};

/// lambda_max(A) for all coordinates.
Vector spectral_form(const Matrix& a);

/// form.form(a, errors), raised to what its products with tiny numbers lost to underflow: every feasible g is
/// no less than diag(A). One entry far below it would multiply all the others in (M.4).
Vector raised_form(const MetricForm& form, const Matrix& a, const Vector& errors);

/// The closed forms, `expected` (spectral) first.
const std::vector<MetricForm>& closed_forms();

/// min sum_i g_i errors_i subject to diag(g) >= A. It has no derivatives: `pull_back` throws InvalidArgument.
MetricForm semidefinite_form();

// What the closed forms (M.5), (M.7) are made of: the largest eigenvalue and diagonal dominance after a
// diagonal scaling, and their derivatives (Z.1) to (Z.3). A and its derivatives are symmetric.

double largest_eigenvalue(const Matrix& a);

/// Square roots, with ones in place of zeros (of diag(A): its rows are zero then).
Vector positive_roots(const Vector& x);

/// 1 / sqrt(errors): what makes sum_i g_i errors_i small.
Vector inverse_roots(const Vector& errors);

/// lambda_max(D A D) D^{-2}, D = diag(roots)^{-1}.
Vector spectral_after_scaling(const Matrix& a, const Vector& roots);

/// The same with roots of diag(A); zero where that is.
Vector scaled_spectral(const Matrix& a);

/// Diagonal dominance of diag(g) - A after scaling by diag(roots).
Vector gershgorin(const Matrix& a, const Vector& roots);

/// Derivatives in A and in the roots.
struct ScaledGradient {
  Matrix a;
  Vector roots;
};
ScaledGradient spectral_after_scaling_gradient(const Matrix& a, const Vector& roots, const Vector& g_bar);
ScaledGradient gershgorin_gradient(const Matrix& a, const Vector& roots, const Vector& g_bar);

Matrix spectral_gradient(const Matrix& a, const Vector& g_bar);
Matrix scaled_spectral_gradient(const Matrix& a, const Vector& g_bar);
Matrix scaled_gershgorin_gradient(const Matrix& a, const Vector& g_bar);
MetricGradient weighted_spectral_gradient(const Matrix& a, const Vector& errors, const Vector& g_bar);
MetricGradient weighted_gershgorin_gradient(const Matrix& a, const Vector& errors, const Vector& g_bar);

// Lemma M.1: if diag(g_k) >= A_k = E[W_k' G_{k+1} W_k] and G_k = l_k^2 diag(g_k), then one layer carries
// W_{G_k} to W_{G_{k+1}} without growth. A chain of such metrics from G_{K+1} = I back to layer 1 turns local
// errors into a bound at the output.

/// Metrics g_1..g_K on the activations of the hidden layers.
struct MetricChain {
  std::string name;
  /// activation_weights[k-1] is g_k as computed; every entry is nonnegative.
  std::vector<Vector> activation_weights;
  /// inflation[k-1] >= 1: inflation * g_k is proven feasible, with all rounding up to the output.
  std::vector<double> inflation;
  /// mask_weights[k-1]: no less than the diagonal of A_k without its mask, up to the same inflation: what
  /// independent errors of mean zero cost (D.5); for the paper's chain, what any errors cost (D.6).
  std::vector<Vector> mask_weights;
};

/// Chains of a network, independent of inputs. All are feasible: Cholesky-verified (M.4).
struct Sensitivity {
  MetricChain paper;                  ///< scalars (|M| + sqrt(E|W-M|_F^2))^2, the paper's appendix
  MetricChain expected;               ///< scalars lambda_max(E W'W)
  std::vector<MetricChain> metrics;   ///< forms of (M.5), one chain each
  std::vector<UpperBound> lipschitz;  ///< l_k of hidden layer k at [k-1]
  /// Index into `metrics` of the chain that grids at layer k are built in, at [k-1].
  std::vector<std::size_t> reference;
  /// log2 of the typical size of the outputs of layers 0..K, for features of size one (R.9).
  std::vector<double> log_sizes;
  /// What underflow can hide in the bound of one input, at the output (R.9).
  double underflow = 0.0;

  [[nodiscard]] const MetricChain& reference_chain(Index layer) const {
    return metrics[reference[static_cast<std::size_t>(layer - 1)]];
  }
};

/// Throws InvalidArgument where a layer's numbers are too large for squares of variances (R.9).
Sensitivity analyse_sensitivity(const Network& network);

/// A metric per coordinate (neuron, input), neuron-major, from one per neuron.
Vector over_inputs(ConstVectorRef per_neuron, Index input_count);

// Where doubles end, docs/theory/rounding.md (R.9): numbers that are too large for squares of variances are
// refused, and what underflow can hide is charged, layer by layer.

/// Throws InvalidArgument, naming the layer, where outputs of a hidden layer have a typical size above 2^40,
/// the network's one above 2^100, or factors of a Kronecker law are more than 2^64 apart.
void require_ordinary_sizes(const Network& network, const std::vector<double>& log_sizes);

/// What underflow can hide in all layers' terms together, at the output, for one input (R.9).
double underflow_charge(const Sensitivity& sensitivity, Index outputs);

/// Throws Error unless means and deviations of the outputs of layer k are below 2^56 times their typical
/// size.
void require_moderate(const Gaussian& law, const Network& network, const Sensitivity& sensitivity, Index k);
void require_moderate(const GaussianMixture& law, const Network& network, const Sensitivity& sensitivity,
                      Index k);

}  // namespace mixcert
