// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of the signature method's layers (Z.20 - Z.26).
#pragma once

#include <vector>

#include "certificate/certificate.h"
#include "gradient/chain_gradient.h"
#include "gradient/cotangents.h"
#include "methods/signature/signature_trace.h"
#include "mixcert/activation/activation.h"
#include "quantize/signature.h"

namespace mixcert {

// From derivatives in a signature's directions u_d back to the Gaussian it was made for and to the metric it
// was placed in, (Z.21), (Z.22). Which axes there are and their sizes are held fixed.

/// Derivatives in one component of a layer and its signature.
struct ComponentGradient {
  GaussianGradient gaussian;
  Matrix directions;  ///< in u_d, one column each

  static ComponentGradient zero(const Gaussian& gaussian, const GridSignature& signature) {
    return {GaussianGradient::zero(gaussian), Matrix::Zero(gaussian.dimension(), signature.axis_count())};
  }
};

/// Moves gradient.directions into gradient.gaussian; returns the derivatives in the metric, per coordinate.
Vector pull_back_directions(const Gaussian& gaussian, const GridSignature& signature, ConstVectorRef metric,
                            ComponentGradient& gradient);

// Derivatives of a layer's squared local error q = sum_j pi_j sum_i g_i e_ij, e_ij by (S.1) or, for diagonal
// covariances, (S.4): (Z.23).

/// Adds q_bar dq to `components` (one per component of layer.after) and returns the derivatives in g.
/// `refine` as in local_errors.
Vector add_local_gradient(const SignatureLayerTrace& layer, const ActivationMap& activation,
                          Index input_count, bool refine, ConstVectorRef g, double q_bar,
                          std::vector<ComponentGradient>& components);

// Derivatives of the cost between structured Gaussians that compression pays (T.1), (T.4), (Z.24). Dense
// covariances over thousands of coordinates are never formed; transport_gradient.h is for those.
// Blocks K of derivatives act on factors from the left: for a covariance block B B' the derivative in B is 2
// K B. For nonsingular blocks K is symmetric and the derivative in the usual sense; for singular ones it need
// not be.

struct StructuredTransportGradient {
  GaussianGradient from;
  GaussianGradient to;
  Vector metric;
};

/// Of gaussian_transport_cost(from, to, metric). `from` has no low-rank part; both have blocks of one size.
StructuredTransportGradient structured_transport_gradient(const Gaussian& from, const Gaussian& to,
                                                          ConstVectorRef metric);

// Derivatives through compression: of what it costs (T.1), and of the components it makes, (Z.24), (Z.25).
// Clusters and plan are held fixed.

/// Adds cost_bar times the derivatives of sum_ij plan_ij cost_ij in the metric g; returns those in g.
Vector add_compression_cost_gradient(const CompressionTrace& trace, ConstVectorRef g, double cost_bar,
                                     std::vector<GaussianGradient>& before,
                                     std::vector<GaussianGradient>& after);

/// Adds to `before` what derivatives in the components of trace.after say: moment matching.
void pull_back_compression(const CompressionTrace& trace, const std::vector<GaussianGradient>& after,
                           std::vector<GaussianGradient>& before);

// One hidden layer of the signature method, backwards: from derivatives in the mixture behind the layer to
// those in the mixture in front of it (Z.20).

/// What the layers share.
struct SignatureSweep {
  const Network& network;
  const Sensitivity& sensitivity;
  Index input_count;
  bool refine;          ///< were local slopes used?
  double bound_weight;  ///< of the bound in the number that is differentiated
};

/// `behind`: derivatives in the components of q_{k+1}. Returns those in the components of q_k; adds to
/// `chains` and `gradient` what the layer's terms and its affine map say.
std::vector<GaussianGradient> pull_back_layer(const SignatureSweep& sweep, Index k,
                                              const SignatureLayerTrace& layer, const LayerTerms& terms,
                                              const std::vector<GaussianGradient>& behind,
                                              ChainGradient& chains, NetworkGradient& gradient);

}  // namespace mixcert
