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

}  // namespace mixcert
