// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How an error of a layer's pre-activations reaches the output (M.8): an activation whose slopes lie in [c -
// rho, c + rho] is c times the identity plus a rho-Lipschitz rest, so a difference d of pre-activations
// becomes at the next layer at most  c |d|_A + rho |d|_diag(g),  A = E[W' Q W], diag(g) >= A. The first norm
// keeps the signs that a single diagonal metric has to give up. Independent of inputs, so built once per
// network.
#pragma once

#include <string>
#include <vector>

#include "mixcert/network/network.h"
#include "mixcert/sensitivity/sensitivity_mode.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

/// factor |d|_Q for differences d of the pre-activations z_{k+1}, pulled back to the activations of layer k.
struct NormTerm {
  double factor = 1.0;
  bool diagonal = true;  ///< is Q?
  Vector metric;         ///< diagonal of Q
  Matrix gram;           ///< M' Q M
  Vector gram_roots;     ///< no less than sqrt((M'QM)_jj), and fit for bounding rounding: sum_l |M_lj|
                         ///< sqrt(Q_ll) where Q is dense
  /// Where the layer's outputs are correlated: E[(W - M)' Q (W - M)] (H.7), Q then being diagonal. Empty
  /// otherwise.
  Matrix noise_gram;
};

/// The output error is at most the sum of the norms.
struct ErrorNorm {
  std::string name;  ///< of the form of g; "output" at the last layer
  std::vector<NormTerm> norms;

  /// sum_i factor_i sqrt(max Q_ll): what an error of one coordinate may grow by.
  [[nodiscard]] double gain() const;
};

/// Element [k-1]: the error norms of hidden layer k, one for every form that may be used.
using ErrorNorms = std::vector<std::vector<ErrorNorm>>;

/// Norms with signs stop at layers whose outputs are correlated: their rows do not separate.
ErrorNorms make_error_norms(const Network& network, SensitivityMode mode);

// The recursion behind error norms (M.8), layer by layer: norms on the outputs of layer k + 1 become norms on
// those of layer k. Every norm knows what it was made from, so that derivatives can be read backwards.

/// factor |d|_Q on the outputs of a layer. With B = diag(scale) A diag(scale), A the second moment of the
/// norm `parent` behind the next layer, Q = B or, when `diagonal`, Q = diag(form(B)).
struct OutputNorm {
  double factor = 1.0;
  bool diagonal = true;
  Matrix q;                ///< only its diagonal matters when `diagonal`
  std::size_t parent = 0;  ///< among the norms of the next layer
  Vector scale;            ///< empty: ones
};

/// |d| on `outputs` outputs.
OutputNorm identity_norm(Index outputs);

/// The norms on the outputs of layer k (0..K-1) that those on the outputs of layer k + 1 become.
std::vector<OutputNorm> carry_back(const std::vector<OutputNorm>& norms, const Network& network, Index k,
                                   const MetricForm& form);

/// What local errors of layer k need to know of a norm on its outputs.
NormTerm pull_back(const OutputNorm& norm, const DenseLayer& layer);

/// A = M' Q M + diag_j(sum_i Q_ii V_ij), raised so that it is no less than the exact one (M.8); behind a mask
/// its diagonal is multiplied by E m^2 (D.1).
Matrix second_moment(const OutputNorm& norm, const DenseLayer& layer, const Mask& mask);

/// The form's g, multiplied so that diag(g) >= A is proven (M.4).
Vector feasible_diagonal(const Matrix& a, const Vector& errors, const MetricForm& form);

/// diag(scale) A diag(scale), no less than the exact one; A itself where `scale` is empty.
Matrix scaled_both_sides(const Matrix& a, const Vector& scale);

/// A guess of the mean-square errors of z_{k+1}: the spread that layer k - 1 puts on layer k's inputs, or
/// ones on the features, through the mean weights. Any positive vector is valid.
Vector expected_errors(const Network& network, Index k);

}  // namespace mixcert
